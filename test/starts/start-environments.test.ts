import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { createBody, pair } from '../support/create-body.ts'
import { until } from '../support/until.ts'
import { type Json, sendRequest, startProgram } from './program.ts'
import { expectMessage, expectNoProcesses, findProcesses, useStarts } from './use-starts.ts'

const starts = useStarts()

describe('with its own chains', () => {
  /** Longer than the second start takes on a busy machine. */
  const ORPHAN_MS = 40_000
  const findChains = () =>
    findProcesses(join('sandbox', 'src', 'main.ts')).filter((pid) => findProcesses(starts.cluster.folder).includes(pid))
  beforeEach(() => {
    starts.env['SWAPYARD_CHAINS'] = ''
    starts.env['SWAPYARD_SANDBOX_NETWORKS'] = 'btc,eth'
    starts.env['SWAPYARD_TEST_ORPHAN_MS'] = String(ORPHAN_MS)
  })

  test('adopts the running chains when it restarts at once after its process group is killed', async () => {
    const first = starts.start()
    await first.waitUntilReady()
    const before = findChains()
    expect(before).toHaveLength(1)
    first.killGroup()
    await first.exited
    const orphanedAt = Date.now()
    const second = starts.start()
    const url = await second.waitUntilReady()
    // Chains that were not adopted stop after this time.
    const mayBeStopped = () => Date.now() > orphanedAt + 1.5 * ORPHAN_MS || findChains().length === 0
    await until('the chains stop, or are adopted', mayBeStopped, 2 * ORPHAN_MS)
    expect(findChains()).toEqual(before)
    await until('it is ready', async () => (await sendRequest(`${url}/health/ready`)).status === 200)
    expect((await sendRequest(`${url}/v1/cross-chain/exchange`, createBody)).status).toBe(201)
    second.kill('SIGTERM')
    expect(await second.ended).toEqual({ code: 0, signal: null })
    await expectNoProcesses(starts.cluster.folder)
  })

  test('reads every block of new chains with its traces, and compares the rates feed with creates (I-30)', async () => {
    const url = await starts.start({ env: { SWAPYARD_SANDBOX_NETWORKS: 'eth' } }).waitUntilReady()
    const readMetrics = async () => (await fetch(`${url}/metrics`)).text()
    await until('the watcher is at the head', async () =>
      /^swapyard_watcher_lag_blocks\{network="eth"\} 0$/m.test(await readMetrics()),
    )
    expect(await readMetrics()).not.toContain('swapyard_node_notes_total{')
    await until('a direction was compared', async () =>
      /^swapyard_feed_comparisons_total\{result="paid"\} [1-9]/m.test(await readMetrics()),
    )
  })

  test('runs without Monero and names the Debian package if its programs are missing', async () => {
    // This folder has no programs.
    const program = starts.start({ env: { SWAPYARD_SANDBOX_NETWORKS: 'btc,eth,xmr', PATH: starts.cluster.folder } })
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
    const query = new URLSearchParams({ ...pair, privateType: 'privatePlus' })
    const rejections = [
      await sendRequest(`${url}/v1/cross-chain/rate/private?${query}`),
      await sendRequest(`${url}/v1/cross-chain/exchange/private`, { ...createBody, privateType: 'privatePlus' }),
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
      env: starts.env,
      command: ['sandbox/src/main.ts', '--data-dir', starts.env['SWAPYARD_DATA_DIR'] ?? ''],
    })
    try {
      await chainsProgram.waitForOutput('\nready\n')
      const before = findChains()
      const program = starts.start()
      const url = await program.waitUntilReady()
      expect(program.output()).toContain('chains: using those of')
      expect((await sendRequest(`${url}/v1/cross-chain/exchange`, createBody)).status).toBe(201)
      program.kill('SIGTERM')
      expect(await program.ended).toEqual({ code: 0, signal: null })
      expect(findChains()).toEqual(before)
    } finally {
      chainsProgram.kill('SIGTERM')
      await chainsProgram.ended
    }
  })
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
    const closed = join(starts.cluster.folder, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    const dataDir = join(closed, 'data')
    const url = await starts.start({ env: { SWAPYARD_DATA_DIR: dataDir } }).waitUntilReady()
    expect((await sendRequest(`${url}/v1/cross-chain/exchange`, createBody)).status).toBe(201)
    expect(statSync(dataDir).uid).toBe(0)
    const { home } = JSON.parse(readFileSync(join(dataDir, 'postgres', 'place.json'), 'utf8')) as { home: string }
    starts.cluster.removeLater(home)
  })

  test.skipIf(cannotReadRepository)('starts as an unprivileged user who then owns the files', async () => {
    starts.cluster.changeOwner(UNPRIVILEGED)
    const program = starts.start({ wrapper: asUnprivileged })
    const url = await program.waitUntilReady()
    expect((await sendRequest(`${url}/v1/cross-chain/exchange`, createBody)).status).toBe(201)
    const dataDir = starts.env['SWAPYARD_DATA_DIR'] ?? ''
    for (const path of ['', 'keystore.json', 'postgres/cluster', 'secrets/pepper']) {
      const { uid, mode } = statSync(join(dataDir, path))
      expect([path, uid, mode & 0o077]).toEqual([path, UNPRIVILEGED, 0])
    }
  })

  test.skipIf(cannotReadRepository)(
    'exits with a message if an unprivileged user cannot enter the data folder',
    async () => {
      const closed = join(starts.cluster.folder, 'closed')
      mkdirSync(closed, { mode: 0o700 })
      starts.cluster.changeOwner(UNPRIVILEGED, ['.', 'two-chains.json'])
      const dataDir = join(closed, 'data')
      const program = starts.start({ wrapper: asUnprivileged, env: { SWAPYARD_DATA_DIR: dataDir } })
      expect((await program.ended).code).toBe(2)
      expectMessage(program.output(), dataDir, 'SWAPYARD_DATA_DIR')
      await expectNoProcesses(starts.cluster.folder)
    },
  )
})
