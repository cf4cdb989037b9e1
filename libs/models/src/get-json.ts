/** Why a list could not be got, in words of our own: what a provider says may quote the key. */
export class ListFault extends Error {
  override readonly name = 'ListFault';
}

/**
 * JSON from an address. Follows no redirect, which could carry the key to another host.
 * @throws ListFault for another status than 2xx, no JSON, more than `maxBytes`, the signal's end or a broken connection
 */
export async function getJson(
  url: URL,
  headers: Record<string, string>,
  { signal, maxBytes }: { signal: AbortSignal; maxBytes: number },
): Promise<{ json: unknown; bytes: number }> {
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json', ...headers },
      redirect: 'manual',
      signal,
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new ListFault(`the answer has the status ${response.status}`);
    }
    const body = await boundedBody(response, maxBytes);
    return { json: parsed(body), bytes: body.length };
  } catch (error) {
    if (error instanceof ListFault) throw error;
    // Without its cause, which may hold the request's headers.
    throw new ListFault(signal.aborted ? 'it took too long' : 'the server cannot be reached');
  }
}

async function boundedBody({ body }: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new ListFault('the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new ListFault('the answer is no JSON');
  }
}
