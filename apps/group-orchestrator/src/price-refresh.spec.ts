import { loadConfig } from '@flowly/service';
import { pino } from 'pino';
import { PriceRefresh } from './price-refresh';

const log = pino({ level: 'silent' });
const withHours = (hours: string) => loadConfig({ FLOWLY_PRICES_REFRESH_HOURS: hours });

/** What asks for new prices, as the network would: it answers only when it is told to. */
function network() {
  const asked: AbortSignal[] = [];
  const refresh = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => {
      asked.push(signal);
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  return { asked, refresh };
}

it('asks for nothing unless it is wanted', async () => {
  const prices = network();
  const refreshing = new PriceRefresh(loadConfig({}), log, prices);
  refreshing.onApplicationBootstrap();
  await refreshing.onApplicationShutdown();
  expect(prices.asked).toEqual([]);
});

it('asks at the start without being waited for, and lets go at the end', async () => {
  const prices = network();
  const refreshing = new PriceRefresh(withHours('24'), log, prices);
  refreshing.onApplicationBootstrap();
  expect(prices.asked).toHaveLength(1);
  await refreshing.onApplicationShutdown();
  expect(prices.asked[0]?.aborted).toBe(true);
});

it.each(['-1', '169', 'daily'])('%s hours are refused', (hours) => {
  expect(() => withHours(hours)).toThrow('FLOWLY_PRICES_REFRESH_HOURS');
});
