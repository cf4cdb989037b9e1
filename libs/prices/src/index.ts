export { Prices, type PricesOptions } from './prices';
