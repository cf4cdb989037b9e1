export const MEDIA_STREAM = '/api/media/stream';

/** What a stream's address asks for. Read in this one way, so that the ticket is checked for the file that is sent. */
export function streamQuery(url: string): { id: string | null; ticket: string | null } {
  const query = new URLSearchParams(url.split('?').slice(1).join('?'));
  return { id: query.get('id'), ticket: query.get('ticket') };
}

/** The address of a file's stream with its ticket. */
export function streamAddress(id: string, ticket: string): string {
  return `${MEDIA_STREAM}?id=${encodeURIComponent(id)}&ticket=${encodeURIComponent(ticket)}`;
}
