import { statSync } from 'node:fs';
import { join } from 'node:path';
import { botFiles } from './paths';
import { readProfile, type Profile } from './profile-file';

/** A file that was written this lately may be written again without its times showing it. */
const SETTLED_MS = 100n;

/** Profiles as they were last read: each use looks whether the file is still the same, and reads it only if not. */
export class ProfileCache {
  private readonly known = new Map<string, { mark: string; profile: Profile | null }>();

  /** As `readProfile`. The object is shared and must not be changed. */
  read(folder: string): Readonly<Profile> | null {
    const file = join(folder, botFiles.profile);
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (!stat) {
      this.known.delete(folder);
      return null;
    }
    const mark = [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ');
    const known = this.known.get(folder);
    if (known?.mark === mark) return known.profile;
    const profile = readProfile(folder);
    if (BigInt(Date.now()) - stat.ctimeMs > SETTLED_MS) this.known.set(folder, { mark, profile });
    else this.known.delete(folder);
    return profile;
  }
}
