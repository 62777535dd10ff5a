import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, onTestFailed, test } from 'vitest'
import { PATIENCE_MS } from '../support/patience.ts'
import { ask, type Json, makeCluster, order, type Program, type ProgramOptions, startProgram } from './program.ts'

let cluster: ReturnType<typeof makeCluster>
let env: Record<string, string>
let programs: Program[]

beforeEach(() => {
  cluster = makeCluster()
  env = { HOME: cluster.folder, SWAPYARD_DATA_DIR: join(cluster.folder, 'data'), SWAPYARD_CHAINS: cluster.chainsFile }
  programs = []
  onTestFailed(() => {
    for (const program of programs) console.info(`process ${program.pid} said:\n${program.said()}`)
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

/** Processes with this text in their command line: what a run has left behind. */
function running(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
    } catch {
      return false
    }
  })
}

async function expectNothingRuns(text: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  while (running(text).length > 0 && Date.now() < deadline) await delay(100)
  expect(running(text)).toEqual([])
}

/** People read this: one sentence, and nothing of a stack. */
function expectSentence(said: string, ...parts: readonly string[]): void {
  for (const part of parts) expect(said).toContain(part)
  expect(said).not.toMatch(/\n\s+at |Error:|node:internal/)
}

test('killed with its whole group, it goes on with the same rows', async () => {
  const first = start()
  const url = await first.ready()
  const { status, body } = await ask(`${url}/v1/cross-chain/exchange`, order)
  expect(status).toBe(201)
  first.killGroup()
  expect(await first.ended).toMatchObject({ signal: 'SIGKILL' })
  const again = await start().ready()
  // `ready` is printed only once the readiness check succeeds.
  expect((await ask(`${again}/health/ready`)).body).toEqual({ status: 'ready' })
  const found = await ask(`${again}/v1/cross-chain/exchange/status?id=${body.id}`)
  expect(found.body.exchange.request.depositAddress).toBe(body.request.depositAddress)
  const next = await ask(`${again}/v1/cross-chain/exchange`, order)
  expect(next.body.request.depositAddress).not.toBe(body.request.depositAddress)
})

describe('on chains of its own', () => {
  const ORPHAN_MS = 10_000
  const chains = () => running(join('sandbox', 'src', 'main.ts')).filter((pid) => running(cluster.folder).includes(pid))
  beforeEach(() => {
    env['SWAPYARD_CHAINS'] = ''
    env['SWAPYARD_SANDBOX_NETWORKS'] = 'btc,eth'
    env['SWAPYARD_TEST_ORPHAN_MS'] = String(ORPHAN_MS)
  })

  test('killed with its whole group and started again at once, it keeps them as long as it runs', async () => {
    const first = start()
    await first.ready()
    const before = chains()
    expect(before).toHaveLength(1)
    first.killGroup()
    await first.exited
    const second = start()
    const url = await second.ready()
    const deadline = Date.now() + 1.5 * ORPHAN_MS
    while (Date.now() < deadline && chains().length > 0) await delay(200)
    expect(chains()).toEqual(before)
    expect((await ask(`${url}/v1/cross-chain/exchange`, order)).status).toBe(201)
    expect((await ask(`${url}/health/ready`)).status).toBe(200)
    second.kill('SIGTERM')
    expect(await second.ended).toEqual({ code: 0, signal: null })
    await expectNothingRuns(cluster.folder)
  })

  test.for([
    ['that does not exist', 'btc,bitcoin2', 2, 'contains bitcoin2, which is not a network; did you mean btc?'],
    ['that has no chain here', 'btc,sol', 1, 'the sandbox has no chain for "sol"; it has btc, ltc, xmr, eth'],
  ] as const)('of a network %s it says so, and leaves nothing running', async ([, networks, code, said]) => {
    const program = start({ env: { SWAPYARD_SANDBOX_NETWORKS: networks } })
    expect(await program.ended).toEqual({ code, signal: null })
    expectSentence(program.said(), said)
    await expectNothingRuns(cluster.folder)
  })

  test('without the programs of Monero it names their package, and is the same but for them', async () => {
    // Nothing is on this PATH.
    const program = start({ env: { SWAPYARD_SANDBOX_NETWORKS: 'btc,eth,xmr', PATH: cluster.folder } })
    const url = await program.ready()
    expectSentence(
      program.said(),
      "monerod and monero-wallet-rpc are not on the PATH; install Debian's package monero to run this network",
    )
    const { body: listed } = await ask(`${url}/v1/cross-chain/available-currencies`)
    const enabledOf = (ticker: string) =>
      listed.filter((one: Json) => one.ticker === ticker).map((one: Json) => one.enabled)
    expect(enabledOf('xmr')).toEqual([false])
    expect(enabledOf('btc')).toEqual([true])
    const pair = {
      fromCurrency: 'btc',
      fromNetwork: 'btc',
      toCurrency: 'eth',
      toNetwork: 'eth',
      privateType: 'privatePlus',
    }
    const refusals = [
      await ask(`${url}/v1/cross-chain/rate/private?${new URLSearchParams(pair)}`),
      await ask(`${url}/v1/cross-chain/exchange/private`, { ...order, ...pair }),
    ]
    for (const { status, body } of refusals) {
      expect([status, body.code, body.errors[0].field]).toEqual([422, 'PAIR_UNAVAILABLE', 'privateType'])
      expect(body.message).toBe(
        'privatePlus uses XMR as intermediary, which is not available: use privateType efficient',
      )
    }
  })

  test('of `npm run chains` it starts, and leaves them running', async () => {
    const alone = startProgram({ env, command: ['sandbox/src/main.ts', '--data-dir', env['SWAPYARD_DATA_DIR'] ?? ''] })
    try {
      await alone.says('\nready\n')
      const before = chains()
      const program = start()
      const url = await program.ready()
      expect(program.said()).toContain('chains: using those of')
      expect((await ask(`${url}/v1/cross-chain/exchange`, order)).status).toBe(201)
      program.kill('SIGTERM')
      expect(await program.ended).toEqual({ code: 0, signal: null })
      expect(chains()).toEqual(before)
    } finally {
      alone.kill('SIGTERM')
      await alone.ended
    }
  })
})

test('on a busy port it says so, and has started nothing', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? String(address?.port) : ''
  const program = start({ env: { PORT: port } })
  expect(await program.ended).toEqual({ code: 1, signal: null })
  expectSentence(program.said(), `port ${port} on 127.0.0.1 is in use`, 'PORT=0')
  expect(existsSync(join(env['SWAPYARD_DATA_DIR'] ?? '', 'postgres'))).toBe(false)
  await expectNothingRuns(cluster.folder)
  await new Promise((resolve) => server.close(resolve))
})

test('a second one on the same data folder is refused, and the first goes on', async () => {
  const first = start()
  const url = await first.ready()
  const second = start()
  expect(await second.ended).toEqual({ code: 1, signal: null })
  expectSentence(second.said(), env['SWAPYARD_DATA_DIR'] ?? '-', `process ${first.pid}`, 'SWAPYARD_DATA_DIR')
  expect((await ask(`${url}/health/ready`)).status).toBe(200)
})

test('ended by SIGTERM it leaves nothing running, and the folder free', async () => {
  const first = start()
  const url = await first.ready()
  const { body } = await ask(`${url}/v1/cross-chain/available-currencies`)
  // PORT=0 takes a free port, and what it names is reached there.
  expect((await fetch(body[0].image)).status).toBe(200)
  expect(body[0].addressExplorer.startsWith(url)).toBe(true)
  first.kill('SIGTERM')
  expect(await first.ended).toEqual({ code: 0, signal: null })
  await expectNothingRuns(cluster.folder)
  expect(readdirSync(env['SWAPYARD_DATA_DIR'] ?? '')).not.toContain('swapyard.lock')
})

test('ended by a SIGTERM to npm alone, as of a supervisor, it leaves nothing running', async () => {
  const program = start({ byNpm: true })
  await program.ready()
  program.kill('SIGTERM')
  await program.ended
  expect(running(cluster.folder)).toEqual([])
  expect(readdirSync(env['SWAPYARD_DATA_DIR'] ?? '')).not.toContain('swapyard.lock')
})

describe.runIf(process.getuid?.() === 0)('for root', () => {
  /** Debian's user without rights, whose numbers are the same everywhere. */
  const UNPRIVILEGED = 65_534
  const asUnprivileged = ['setpriv', `--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, '--clear-groups']
  const [command = '', ...rest] = asUnprivileged
  const cannotRead =
    spawnSync(command, [...rest, 'cat', import.meta.filename], { cwd: '/', stdio: 'ignore' }).status !== 0
  if (cannotRead) console.info('starts: no ordinary user can read this clone, so that none can start it')

  test('in a data folder that no other user can enter', async () => {
    const closed = join(cluster.folder, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    const dataDir = join(closed, 'data')
    const url = await start({ env: { SWAPYARD_DATA_DIR: dataDir } }).ready()
    expect((await ask(`${url}/v1/cross-chain/exchange`, order)).status).toBe(201)
    expect(statSync(dataDir).uid).toBe(0)
    const { home } = JSON.parse(readFileSync(join(dataDir, 'postgres', 'place.json'), 'utf8')) as { home: string }
    cluster.removeLater(home)
  })

  test.skipIf(cannotRead)('an ordinary user starts it as well, and owns all that it makes', async () => {
    cluster.giveTo(UNPRIVILEGED)
    const program = start({ through: asUnprivileged })
    const url = await program.ready()
    expect((await ask(`${url}/v1/cross-chain/exchange`, order)).status).toBe(201)
    const dataDir = env['SWAPYARD_DATA_DIR'] ?? ''
    for (const path of ['', 'keystore.json', 'postgres/cluster', 'secrets/pepper']) {
      const { uid, mode } = statSync(join(dataDir, path))
      expect([path, uid, mode & 0o077]).toEqual([path, UNPRIVILEGED, 0])
    }
  })

  test.skipIf(cannotRead)('an ordinary user hears in a sentence that it cannot have the data folder', async () => {
    const closed = join(cluster.folder, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    cluster.giveTo(UNPRIVILEGED, ['.', 'two-chains.json'])
    const dataDir = join(closed, 'data')
    const program = start({ through: asUnprivileged, env: { SWAPYARD_DATA_DIR: dataDir } })
    expect((await program.ended).code).toBe(2)
    expectSentence(program.said(), dataDir, 'SWAPYARD_DATA_DIR')
    await expectNothingRuns(cluster.folder)
  })
})
