import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import sharp from 'sharp';

const HOUR_MS = 3_600_000;

/** Where the groups' files are, beside those of the bot `default`. */
export function mediaFolder(home: string): string {
  return path.join(home, 'media');
}

export function mediaNames(home: string): string[] {
  return readdirSync(mediaFolder(home)).sort();
}

/** The beginning of the names of a group's files. */
export function groupPrefix(groupId: string): string {
  return `group-${groupId.slice(0, 8)}-`;
}

/** Puts a file there that is as old as this. */
export function putMedia(home: string, name: string, bytes: Buffer | string, hours = 0): void {
  writeFileSync(path.join(mediaFolder(home), name), bytes);
  age(home, name, hours);
}

/** Makes a file look as if it had been written some hours ago. */
export function age(home: string, name: string, hours: number): void {
  const then = new Date(Date.now() - hours * HOUR_MS);
  utimesSync(path.join(mediaFolder(home), name), then, then);
}

export function picture(width = 64, height = 48): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: '#204060' } })
    .png()
    .toBuffer();
}
