import { afterEach, expect, test } from 'vitest'
import { createRandom } from '../support/random.ts'
import { isRefusedPayment, postControl } from './control.ts'
import { startLoad } from './load.ts'
import { type LocalServer, startLocalServer } from './local-server.ts'
import type { Run } from './run.ts'

const servers: LocalServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

/** A control API that answers every request with an error. */
async function refuse(status: number, text: string): Promise<string> {
  const server = await startLocalServer(async (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(text)
  })
  servers.push(server)
  return server.url
}
const refusal = (code: string) => JSON.stringify({ message: `refused with ${code}`, code })

const post = async (url: string, path = '/deposits') =>
  postControl(url, path, {}).then(
    () => null,
    (error: Error) => error,
  )

test('recognises only a payment that the node refused', async () => {
  const refused = await refuse(409, refusal('NODE_REFUSED'))
  expect(isRefusedPayment(await post(refused))).toBe(true)
  expect(isRefusedPayment(await post(refused, '/reorgs'))).toBe(false)
  for (const [status, text] of [
    [400, refusal('INVALID_ADDRESS')],
    [409, refusal('BANK_IS_SHORT')],
    [500, refusal('INTERNAL')],
    [503, refusal('NODE_UNAVAILABLE')],
    [502, 'no JSON with NODE_REFUSED'],
  ] as const) {
    const error = await post(await refuse(status, text))
    expect(error?.message).toBe(`/deposits: ${text}`)
    expect(isRefusedPayment(error)).toBe(false)
  }
})

/** Starts a load in which the bank refuses one of ten payments, and returns its errors. */
async function loadWithRefusal(text: string, reorgs: number): Promise<readonly string[]> {
  const url = await refuse(409, text)
  let orders = 0
  let finish: () => void = () => undefined
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const run = {
    client: { call: async () => ({ status: 200, body: { min: 0.01 } }) },
    customers: {
      buy: async () => {
        if (++orders === 10) finish()
        if (orders === 1) await postControl(url, '/deposits', {})
      },
    },
    fleet: {
      cluster: { chains: { networks: [] }, countFaults: () => ({ reorgs }) },
      database: { query: async () => [] },
    },
  } as unknown as Run
  const load = await startLoad(run, { everyMs: 1, random: createRandom(1) })
  await finished
  await load.close()
  return load.errors()
}

test('the load permits a customer whom the bank could not pay for after a reorganisation', async () => {
  expect(await loadWithRefusal(refusal('NODE_REFUSED'), 1)).toEqual([])
})

test.each([
  ['after a reorganisation with another code', refusal('INVALID_ADDRESS'), 1],
  ['without a reorganisation', refusal('NODE_REFUSED'), 0],
])('the load reports a payment that was refused %s', async (_what, text, reorgs) => {
  expect(await loadWithRefusal(text, reorgs)).toEqual([`/deposits: ${text}`])
})
