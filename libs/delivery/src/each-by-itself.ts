/**
 * Does the work for every item at once; what hinders one hinders none of the others.
 * @throws the first failure, when all is done
 */
export async function eachByItself<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const outcomes = await Promise.allSettled([...items].map((item) => work(item)));
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
}
