/**
 * Turns Ctrl-C, SIGTERM and a closed terminal into one abort; later signals change nothing.
 * @param {(line: string) => void} say
 */
export function stopOnSignals(say) {
  const stop = new AbortController();
  const onSignal = () => {
    if (!stop.signal.aborted) say('\nStopping …');
    stop.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, onSignal);
  // A reader that goes away (`npm start | head`) must not take us down before our children.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => stop.abort());
  return stop;
}
