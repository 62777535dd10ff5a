import { join } from 'node:path'
import { freePort } from '@swapyard/lib/free-port.ts'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { coinTypes } from '../../server/src/app/keys.ts'
import { createBody } from '../support/create-body.ts'
import { createDatabase } from '../support/database.ts'
import { createQuickKeystore } from '../support/keystore.ts'
import { until } from '../support/until.ts'
import { createStartCluster, type Program, type StartCluster, sendRequest, startProgram } from './program.ts'

const passphrase = 'a passphrase of the two roles'

let cluster: StartCluster
let database: Awaited<ReturnType<typeof createDatabase>>
let programs: Program[] = []

beforeAll(async () => {
  cluster = createStartCluster()
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

/** Starts a role. Only the worker gets the passphrase. */
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

/** Reads one value of a process's metrics. */
async function readMetric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const line = text.split('\n').find((entry) => entry.startsWith(name))
  return Number(line?.split(' ').at(-1) ?? Number.NaN)
}

test('the worker executes an exchange that the api creates', async () => {
  const port = await freePort()
  const worker = start('worker', {
    SWAPYARD_WORKER_PORT: String(port),
    SWAPYARD_KEYSTORE_PASSPHRASE: passphrase,
  })
  const api = start('api', {})
  const [workerUrl, url] = await Promise.all([worker.waitUntilReady(), api.waitUntilReady()])
  expect(workerUrl).toBe(`http://127.0.0.1:${port}`)
  // A worker serves only health and metrics.
  expect((await sendRequest(`${workerUrl}/v1/cross-chain/available-currencies`)).status).toBe(404)
  for (const [role, at] of [
    ['worker', workerUrl],
    ['api', url],
  ])
    await until(`the ${role} is ready`, async () => (await sendRequest(`${at}/health/ready`)).status === 200)

  const { body: created } = await sendRequest(`${url}/v1/cross-chain/exchange`, createBody)
  await until('the worker counts the exchange', async () => {
    return (await readMetric(workerUrl, 'swapyard_open_exchanges{status="pending"}')) === 1
  })
  const deposit = { network: 'btc', currency: 'btc', address: created.request.depositAddress, amount: '0.01' }
  expect((await sendRequest(`${url}/sandbox/deposits`, deposit)).status).toBe(201)
  const readStatus = async () =>
    (await sendRequest(`${url}/v1/cross-chain/exchange/status?id=${created.id}`)).body.exchange.status as string
  await until('the exchange is paid out', async () => (await readStatus()) === 'finished')

  for (const program of [api, worker]) program.kill('SIGTERM')
  for (const program of [api, worker]) expect(await program.ended).toEqual({ code: 0, signal: null })
  programs = []
})
