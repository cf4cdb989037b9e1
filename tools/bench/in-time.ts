const PATIENCE_MS = 60_000;

/** @throws Error when it takes more than a minute: then something was lost, and waiting tells nothing. */
export async function inTime<T>(event: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, PATIENCE_MS, new Error(`${what} did not come within a minute`));
  });
  try {
    return await Promise.race([event, late]);
  } finally {
    clearTimeout(timer);
  }
}
