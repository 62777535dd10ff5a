import { inject } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { type MemoryCluster, type MemoryOrder, startMemoryCluster } from '../support/memory-cluster.ts'

type Opened = Awaited<ReturnType<MemoryCluster['open']>>['app']

/** The whole app on two chains in memory and a database of its own, as a partner's program calls it. */
export type PartnerApp = Readonly<{
  app: Opened
  /** An address on `bsc` that is not ours. */
  recipient: string
  get(url: string, headers?: Record<string, string>): ReturnType<typeof call>
  post(url: string, body: object, headers?: Record<string, string>): ReturnType<typeof call>
  /** Creates an exchange of 0.1 ether on `eth` to BNB on `bsc`. */
  order(): Promise<MemoryOrder>
  pay(order: MemoryOrder): void
  stop(): Promise<void>
}>

const call = (
  app: Opened,
  method: 'GET' | 'POST' | 'PUT' | 'OPTIONS',
  url: string,
  headers: Record<string, string>,
  body?: object,
) =>
  app.http.inject({
    method,
    url,
    remoteAddress: '127.0.0.1',
    headers: { 'x-api-key': 'sandbox', ...headers },
    ...(body === undefined ? {} : { payload: body }),
  })

let started = 0

export async function startPartnerApp(): Promise<PartnerApp> {
  const database = await createDatabase(inject('databaseUrl'), inject('databaseTemplate'))
  const cluster = await startMemoryCluster(`partner ${++started}`)
  const { app } = await cluster.open({ databaseUrl: database.url })
  await cluster.fund(app)
  return {
    app,
    recipient: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
    get: (url, headers = {}) => call(app, 'GET', url, headers),
    post: (url, body, headers = {}) => call(app, 'POST', url, headers, body),
    order: () => cluster.order(app),
    pay: cluster.pay,
    stop: async () => {
      await cluster.stop()
      await database.drop()
    },
  }
}
