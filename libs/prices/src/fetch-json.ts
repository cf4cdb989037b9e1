const PATIENCE_MS = 30_000;
const MAX_BYTES = 32 * 2 ** 20;

/**
 * JSON from an address.
 * @throws Error when it does not come within half a minute, is larger than 32 MiB, or `signal` ended it
 */
export async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
  });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return JSON.parse(await boundedText(response));
}

async function boundedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new Error('The answer is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
