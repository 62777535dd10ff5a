import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, onTestFailed, test } from 'vitest'
import { PATIENCE_MS } from '../support/patience.ts'
import {
  createStartCluster,
  type Json,
  order,
  type Program,
  type ProgramOptions,
  sendRequest,
  startProgram,
} from './program.ts'

let cluster: ReturnType<typeof createStartCluster>
let env: Record<string, string>
let programs: Program[]

beforeEach(() => {
  cluster = createStartCluster()
  env = { HOME: cluster.folder, SWAPYARD_DATA_DIR: join(cluster.folder, 'data'), SWAPYARD_CHAINS: cluster.chainsFile }
  programs = []
  onTestFailed(() => {
    for (const program of programs) console.info(`output of process ${program.pid}:\n${program.output()}`)
  })
})
afterEach(async () => {
  for (const program of programs) {
    program.kill('SIGTERM')
    await program.ended
  }
  cluster.remove()
})

function start(options: Partial<ProgramOptions> = {}): Program {
  const program = startProgram({ ...options, env: { ...env, ...options.env } })
  programs.push(program)
  return program
}

/** Returns the ids of processes with this text in their command line. */
function findProcesses(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
    } catch {
      return false
    }
  })
}

async function expectNoProcesses(text: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  while (findProcesses(text).length > 0 && Date.now() < deadline) await delay(100)
  expect(findProcesses(text)).toEqual([])
}

/** Expects the texts in the output and no stack trace, because people read it. */
function expectMessage(output: string, ...parts: readonly string[]): void {
  for (const part of parts) expect(output).toContain(part)
  expect(output).not.toMatch(/\n\s+at |Error:|node:internal/)
}

test('keeps its exchanges after its process group is killed and restarted', async () => {
  const first = start()
  const url = await first.waitUntilReady()
  const { status, body } = await sendRequest(`${url}/v1/cross-chain/exchange`, order)
  expect(status).toBe(201)
  first.killGroup()
  expect(await first.ended).toMatchObject({ signal: 'SIGKILL' })
  const restartedUrl = await start().waitUntilReady()
  // `ready` is printed only once the readiness check succeeds.
  expect((await sendRequest(`${restartedUrl}/health/ready`)).body).toEqual({ status: 'ready' })
  const stored = await sendRequest(`${restartedUrl}/v1/cross-chain/exchange/status?id=${body.id}`)
  expect(stored.body.exchange.request.depositAddress).toBe(body.request.depositAddress)
  const next = await sendRequest(`${restartedUrl}/v1/cross-chain/exchange`, order)
  expect(next.body.request.depositAddress).not.toBe(body.request.depositAddress)
})

test('quotes a price that POST /sandbox/prices fixed within a second, until null lets it move again', async () => {
  const url = await start().waitUntilReady()
  const query = 'fromCurrency=wbtc&fromNetwork=eth&toCurrency=eth&toNetwork=eth&amount=0.1&flow=standard'
  const quote = async () => {
    const { status, body } = await sendRequest(`${url}/v1/cross-chain/rate?${query}`)
    expect(status, JSON.stringify(body)).toBe(200)
    return Number(body.toAmount)
  }
  const setPrice = async (usd: string | null) => {
    const { status, body } = await sendRequest(`${url}/sandbox/prices`, { currency: 'wbtc', usd })
    expect([status, body]).toEqual([201, { currency: 'wbtc', usd }])
    await delay(1_000)
  }
  const before = await quote()
  await setPrice('192620')
  const fixed = await quote()
  await setPrice(null)
  // The base price of WBTC is 96 310 dollars: twice that gives twice the ether, apart from the network fee.
  expect(fixed / before).toBeGreaterThan(1.9)
  expect(fixed / before).toBeLessThan(2.1)
  expect(await quote()).toBeCloseTo(before, 4)
})

describe('with its own chains', () => {
  const ORPHAN_MS = 10_000
  const findChains = () =>
    findProcesses(join('sandbox', 'src', 'main.ts')).filter((pid) => findProcesses(cluster.folder).includes(pid))
  beforeEach(() => {
    env['SWAPYARD_CHAINS'] = ''
    env['SWAPYARD_SANDBOX_NETWORKS'] = 'btc,eth'
    env['SWAPYARD_TEST_ORPHAN_MS'] = String(ORPHAN_MS)
  })

  test('adopts the running chains when it restarts at once after its process group is killed', async () => {
    const first = start()
    await first.waitUntilReady()
    const before = findChains()
    expect(before).toHaveLength(1)
    first.killGroup()
    await first.exited
    const second = start()
    const url = await second.waitUntilReady()
    const deadline = Date.now() + 1.5 * ORPHAN_MS
    while (Date.now() < deadline && findChains().length > 0) await delay(200)
    expect(findChains()).toEqual(before)
    expect((await sendRequest(`${url}/v1/cross-chain/exchange`, order)).status).toBe(201)
    expect((await sendRequest(`${url}/health/ready`)).status).toBe(200)
    second.kill('SIGTERM')
    expect(await second.ended).toEqual({ code: 0, signal: null })
    await expectNoProcesses(cluster.folder)
  })

  test.for([
    ['an unknown network', 'btc,bitcoin2', 2, 'contains bitcoin2, which is not a network; did you mean btc?'],
    [
      'a network without a sandbox chain',
      'btc,sol',
      1,
      'the sandbox has no chain for "sol"; it has btc, ltc, xmr, eth',
    ],
  ] as const)('rejects %s and leaves no process running', async ([, networks, code, message]) => {
    const program = start({ env: { SWAPYARD_SANDBOX_NETWORKS: networks } })
    expect(await program.ended).toEqual({ code, signal: null })
    expectMessage(program.output(), message)
    await expectNoProcesses(cluster.folder)
  })

  test('runs without Monero and names the Debian package if its programs are missing', async () => {
    // This folder has no programs.
    const program = start({ env: { SWAPYARD_SANDBOX_NETWORKS: 'btc,eth,xmr', PATH: cluster.folder } })
    const url = await program.waitUntilReady()
    expectMessage(
      program.output(),
      "monerod and monero-wallet-rpc are not on the PATH; install Debian's package monero to run this network",
    )
    const { body: currencies } = await sendRequest(`${url}/v1/cross-chain/available-currencies`)
    const readEnabled = (ticker: string) =>
      currencies.filter((entry: Json) => entry.ticker === ticker).map((entry: Json) => entry.enabled)
    expect(readEnabled('xmr')).toEqual([false])
    expect(readEnabled('btc')).toEqual([true])
    const pair = {
      fromCurrency: 'btc',
      fromNetwork: 'btc',
      toCurrency: 'eth',
      toNetwork: 'eth',
      privateType: 'privatePlus',
    }
    const rejections = [
      await sendRequest(`${url}/v1/cross-chain/rate/private?${new URLSearchParams(pair)}`),
      await sendRequest(`${url}/v1/cross-chain/exchange/private`, { ...order, ...pair }),
    ]
    for (const { status, body } of rejections) {
      expect([status, body.code, body.errors[0].field]).toEqual([422, 'PAIR_UNAVAILABLE', 'privateType'])
      expect(body.message).toBe(
        'privatePlus uses XMR as intermediary, which is not available: use privateType efficient',
      )
    }
  })

  test('uses the chains of `npm run chains` and leaves them running', async () => {
    const chainsProgram = startProgram({
      env,
      command: ['sandbox/src/main.ts', '--data-dir', env['SWAPYARD_DATA_DIR'] ?? ''],
    })
    try {
      await chainsProgram.waitForOutput('\nready\n')
      const before = findChains()
      const program = start()
      const url = await program.waitUntilReady()
      expect(program.output()).toContain('chains: using those of')
      expect((await sendRequest(`${url}/v1/cross-chain/exchange`, order)).status).toBe(201)
      program.kill('SIGTERM')
      expect(await program.ended).toEqual({ code: 0, signal: null })
      expect(findChains()).toEqual(before)
    } finally {
      chainsProgram.kill('SIGTERM')
      await chainsProgram.ended
    }
  })
})

test('exits with a message and starts nothing if its port is in use', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? String(address?.port) : ''
  const program = start({ env: { PORT: port } })
  expect(await program.ended).toEqual({ code: 1, signal: null })
  expectMessage(program.output(), `port ${port} on 127.0.0.1 is in use`, 'PORT=0')
  expect(existsSync(join(env['SWAPYARD_DATA_DIR'] ?? '', 'postgres'))).toBe(false)
  await expectNoProcesses(cluster.folder)
  await new Promise((resolve) => server.close(resolve))
})

test('refuses a second start on the same data folder, and the first continues', async () => {
  const first = start()
  const url = await first.waitUntilReady()
  const second = start()
  expect(await second.ended).toEqual({ code: 1, signal: null })
  expectMessage(second.output(), env['SWAPYARD_DATA_DIR'] ?? '-', `process ${first.pid}`, 'SWAPYARD_DATA_DIR')
  expect((await sendRequest(`${url}/health/ready`)).status).toBe(200)
})

test('leaves no process and no lock after SIGTERM', async () => {
  const first = start()
  const url = await first.waitUntilReady()
  const { body } = await sendRequest(`${url}/v1/cross-chain/available-currencies`)
  // PORT=0 takes a free port, and the URLs in responses use it.
  expect((await fetch(body[0].image)).status).toBe(200)
  expect(body[0].addressExplorer.startsWith(url)).toBe(true)
  first.kill('SIGTERM')
  expect(await first.ended).toEqual({ code: 0, signal: null })
  await expectNoProcesses(cluster.folder)
  expect(readdirSync(env['SWAPYARD_DATA_DIR'] ?? '')).not.toContain('swapyard.lock')
})

test('leaves no process after a SIGTERM to npm alone, as a supervisor sends it', async () => {
  const program = start({ usesNpm: true })
  await program.waitUntilReady()
  program.kill('SIGTERM')
  await program.ended
  expect(findProcesses(cluster.folder)).toEqual([])
  expect(readdirSync(env['SWAPYARD_DATA_DIR'] ?? '')).not.toContain('swapyard.lock')
})

describe.runIf(process.getuid?.() === 0)('as root', () => {
  /** Id of Debian's user and group without rights. */
  const UNPRIVILEGED = 65_534
  const asUnprivileged = ['setpriv', `--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, '--clear-groups']
  const [command = '', ...rest] = asUnprivileged
  const cannotReadRepository =
    spawnSync(command, [...rest, 'cat', import.meta.filename], { cwd: '/', stdio: 'ignore' }).status !== 0
  if (cannotReadRepository) console.info('skipped: an unprivileged user cannot read this repository')

  test('starts in a data folder that no other user can enter', async () => {
    const closed = join(cluster.folder, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    const dataDir = join(closed, 'data')
    const url = await start({ env: { SWAPYARD_DATA_DIR: dataDir } }).waitUntilReady()
    expect((await sendRequest(`${url}/v1/cross-chain/exchange`, order)).status).toBe(201)
    expect(statSync(dataDir).uid).toBe(0)
    const { home } = JSON.parse(readFileSync(join(dataDir, 'postgres', 'place.json'), 'utf8')) as { home: string }
    cluster.removeLater(home)
  })

  test.skipIf(cannotReadRepository)('starts as an unprivileged user who then owns the files', async () => {
    cluster.changeOwner(UNPRIVILEGED)
    const program = start({ wrapper: asUnprivileged })
    const url = await program.waitUntilReady()
    expect((await sendRequest(`${url}/v1/cross-chain/exchange`, order)).status).toBe(201)
    const dataDir = env['SWAPYARD_DATA_DIR'] ?? ''
    for (const path of ['', 'keystore.json', 'postgres/cluster', 'secrets/pepper']) {
      const { uid, mode } = statSync(join(dataDir, path))
      expect([path, uid, mode & 0o077]).toEqual([path, UNPRIVILEGED, 0])
    }
  })

  test.skipIf(cannotReadRepository)(
    'exits with a message if an unprivileged user cannot enter the data folder',
    async () => {
      const closed = join(cluster.folder, 'closed')
      mkdirSync(closed, { mode: 0o700 })
      cluster.changeOwner(UNPRIVILEGED, ['.', 'two-chains.json'])
      const dataDir = join(closed, 'data')
      const program = start({ wrapper: asUnprivileged, env: { SWAPYARD_DATA_DIR: dataDir } })
      expect((await program.ended).code).toBe(2)
      expectMessage(program.output(), dataDir, 'SWAPYARD_DATA_DIR')
      await expectNoProcesses(cluster.folder)
    },
  )
})
