export * from './accept-turn';
export * from './bot';
export * from './end-turn';
export * from './live-turns';
export * from './model-call';
export * from './piece-pump';
export * from './terminal';
export * from './turn';
