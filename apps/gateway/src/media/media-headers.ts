import { mediaKind } from '@flowly/contract';
import type { OpenMedia } from './media-folder';

/** What the bytes claim to be is never believed: nothing of them may run as a page of this gateway. */
export function headersOf({ fileName, mimeType, version }: OpenMedia): Record<string, string> {
  const isShown = mediaKind(mimeType) !== 'file' && mimeType !== 'image/svg+xml';
  return {
    'content-type': mimeType,
    'content-disposition': `${isShown ? 'inline' : 'attachment'}; ${fileNameParts(fileName)}`,
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'private, no-cache',
    'accept-ranges': 'bytes',
    etag: version,
  };
}

function fileNameParts(fileName: string): string {
  const plain = fileName.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const whole = encodeURIComponent(fileName).replace(/['()*]/g, (sign) => {
    return `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  return `filename="${plain}"; filename*=UTF-8''${whole}`;
}
