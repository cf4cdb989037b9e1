const DISTRIBUTIONS: readonly string[] = ['desktop', 'cli', 'manual'];
const DESKTOP = ['.app/contents/', '/resources/flowly-runtime/'];
const CLI = [
  '/.venv/',
  '/venv/',
  '/uv/tools/',
  '/.local/',
  '/usr/local/bin/',
  '/opt/homebrew/bin/',
  '/appdata/roaming/uv/',
];

/** Who put this gateway here; never guessed (wire.md §2). */
export function runtimeOwner(
  told: { serviceOwner: string | undefined; runtimeDistribution: string | undefined },
  executable: string,
): string | undefined {
  for (const word of [told.serviceOwner, told.runtimeDistribution]) {
    const owner = word?.trim().toLowerCase();
    if (owner !== undefined && DISTRIBUTIONS.includes(owner)) return owner;
  }
  const path = executable.toLowerCase().replaceAll('\\', '/');
  if (DESKTOP.some((part) => path.includes(part))) return 'desktop';
  return CLI.some((part) => path.includes(part)) ? 'cli' : undefined;
}
