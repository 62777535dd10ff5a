import { join } from 'node:path'
import { freePort } from '@swapyard/lib/free-port.ts'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { coinTypes } from '../../server/src/app/keys.ts'
import { createDatabase } from '../support/database.ts'
import { createQuickKeystore } from '../support/keystore.ts'
import { until } from '../support/until.ts'
import { ask, makeCluster, order, type Program, type StartCluster, startProgram } from './program.ts'

const passphrase = 'a passphrase of the two roles'

let cluster: StartCluster
let database: Awaited<ReturnType<typeof createDatabase>>
let programs: Program[] = []

beforeAll(async () => {
  cluster = makeCluster()
  database = await createDatabase(inject('databaseUrl'))
  await createQuickKeystore(join(cluster.folder, 'keystore.json'), passphrase, coinTypes)
})
afterAll(async () => {
  for (const program of programs) {
    program.kill('SIGTERM')
    await program.ended
  }
  await database.drop()
  cluster.remove()
})

/** Only the worker gets the passphrase. */
function start(role: 'api' | 'worker', env: Record<string, string>): Program {
  const program = startProgram({
    args: ['--role', role],
    env: {
      HOME: cluster.folder,
      DATABASE_URL: database.url,
      SWAPYARD_DATA_DIR: join(cluster.folder, role),
      SWAPYARD_CHAINS: cluster.chainsFile,
      SWAPYARD_KEYSTORE: join(cluster.folder, 'keystore.json'),
      SWAPYARD_PEPPER: 'a pepper of the two roles, long enough',
      ...env,
    },
  })
  programs.push(program)
  return program
}

/** One figure of a process's metrics. */
async function figure(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const line = text.split('\n').find((one) => one.startsWith(name))
  return Number(line?.split(' ').at(-1) ?? Number.NaN)
}

test('an exchange that one process creates is served by the other', async () => {
  const port = await freePort()
  const worker = start('worker', {
    SWAPYARD_WORKER_PORT: String(port),
    SWAPYARD_KEYSTORE_PASSPHRASE: passphrase,
  })
  const api = start('api', {})
  const [workerUrl, url] = await Promise.all([worker.ready(), api.ready()])
  expect(workerUrl).toBe(`http://127.0.0.1:${port}`)
  expect((await ask(`${workerUrl}/health/ready`)).status).toBe(200)
  // Health and metrics are all that a worker shows.
  expect((await ask(`${workerUrl}/v1/cross-chain/available-currencies`)).status).toBe(404)
  await until('the api is ready', async () => (await ask(`${url}/health/ready`)).status === 200)

  const { body: created } = await ask(`${url}/v1/cross-chain/exchange`, order)
  await until('the worker counts it', async () => {
    return (await figure(workerUrl, 'swapyard_open_exchanges{status="pending"}')) === 1
  })
  const paid = { network: 'btc', currency: 'btc', address: created.request.depositAddress, amount: '0.01' }
  expect((await ask(`${url}/sandbox/deposits`, paid)).status).toBe(201)
  const status = async () =>
    (await ask(`${url}/v1/cross-chain/exchange/status?id=${created.id}`)).body.exchange.status as string
  await until('it is paid out', async () => (await status()) === 'finished')

  for (const program of [api, worker]) program.kill('SIGTERM')
  for (const program of [api, worker]) expect(await program.ended).toEqual({ code: 0, signal: null })
  programs = []
})
