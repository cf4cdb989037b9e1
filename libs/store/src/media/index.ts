export { ChatMedia } from './chat-media';
export { GroupMedia, type MediaUsage, type NewMedia } from './group-media';
export { fileErrorCode, readMediaFile } from './media-file';
export { readMediaPart, type MediaPart } from './media-part';
