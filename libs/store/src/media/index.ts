export { GroupMedia, type MediaUsage, type NewMedia } from './group-media';
export { fileErrorCode, readMediaFile } from './media-file';
