import type { MarketDeps } from '../../src/exchange/settlement/steps/context.ts'
import { startMoneyPath } from '../exchange/money-path.ts'
import { type AdminServer, openAdminServer } from './admin-server.ts'

type MoneyPath = Awaited<ReturnType<typeof startMoneyPath>>

/** The admin API on the database and the prices of a money path: its exchanges are real ones. */
export async function openMoneyPathServer(
  options: Parameters<typeof openAdminServer>[0] = {},
): Promise<Readonly<{ server: AdminServer; path: MoneyPath; close(): Promise<void> }>> {
  let path: MoneyPath | null = null
  const opened = (): MoneyPath => {
    if (path === null) throw new Error('the money path is not open yet')
    return path
  }
  const market: MarketDeps = {
    get books() {
      return opened().books
    },
    get chains() {
      return opened().dependencies.chains
    },
    get settings() {
      return opened().settings
    },
    clock: { now: Date.now },
    currencyOf: (id) => opened().dependencies.currencyOf(id),
  }
  const server = await openAdminServer({ ...options, deps: { ...options.deps, market } })
  path = await startMoneyPath({ open: async () => server.test })
  return { server, path, close: server.close }
}
