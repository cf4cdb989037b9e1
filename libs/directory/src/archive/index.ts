export { exportBot, type Exported, type Exporting } from './export-bot';
export { importBot, type Imported, type Importing } from './import-bot';
