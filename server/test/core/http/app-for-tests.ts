import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { createHttpServer } from '../../../src/app/http.ts'
import { type ApiSettings, apiDefaults, type HttpLog } from '../../../src/core/http/settings.ts'
import { createServicesInMemory, type ServicesInMemory } from './services-in-memory.ts'

export type LogLine = { level: 'info' | 'warn' | 'error'; fields: Record<string, unknown>; message: string }
export type TestApp = {
  app: FastifyInstance
  services: ServicesInMemory
  lines: LogLine[]
  observed: { route: string; method: string; status: number }[]
}

/**
 * Creates the HTTP server over services in memory. `lines` collects its log lines unless `customLog` is given. The overload
 * guard is off, because injected requests occupy the event loop. Close the app after use.
 */
export function createTestApp(settings: Partial<ApiSettings> = {}, customLog: HttpLog | null = null): TestApp {
  const services = createServicesInMemory()
  const lines: LogLine[] = []
  const observed: TestApp['observed'] = []
  const collectLines = (level: LogLine['level']) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message })
  const collectingLog: HttpLog = {
    info: collectLines('info'),
    warn: collectLines('warn'),
    error: collectLines('error'),
  }
  const log = customLog ?? collectingLog
  const app = createHttpServer({
    services,
    log,
    metrics: {
      observeRequest: (route, method, status) => void observed.push({ route, method, status }),
      render: async () => '# metrics\n',
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
    },
    settings: { ...apiDefaults, overload: null, publicUrl: 'http://127.0.0.1:8080', ...settings },
  })
  return { app, services, lines, observed }
}

/** Listens on a free port of loopback and returns its number. */
export async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

export const goodOrder = {
  fromCurrency: 'btc',
  fromNetwork: 'btc',
  toCurrency: 'usdt',
  toNetwork: 'eth',
  fromAmount: '0.01',
  flow: 'standard',
  address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
} as const

export const goodRate = {
  fromCurrency: 'btc',
  fromNetwork: 'btc',
  toCurrency: 'usdt',
  toNetwork: 'eth',
  amount: '0.01',
} as const
