/**
 * Takes the first Ctrl-C (or SIGTERM) for itself; the next ends the process as if nobody had listened. Returns how to
 * let go.
 */
export function onInterrupt(work: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const letGo = () => {
    for (const signal of signals) process.off(signal, once);
  };
  const once = () => {
    letGo();
    work();
  };
  for (const signal of signals) process.on(signal, once);
  return letGo;
}
