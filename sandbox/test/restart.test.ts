import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive, type PidIdentity, readPidIdentity } from '@swapyard/lib/pid.ts'
import { until as untilSoon } from '@swapyard/lib/until.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PATIENCE_MS } from '../../test/support/patience.ts'
import { until } from '../../test/support/until.ts'
import { launch, type RunningSandbox, runSandbox, temporaryFolder, testedNetworks } from './running-sandbox.ts'

let folder: ReturnType<typeof temporaryFolder>
const running: RunningSandbox[] = []

beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(async () => {
  for (const sandbox of running.splice(0))
    if (sandbox.process.exitCode === null && !sandbox.process.killed) await sandbox.stop()
  folder.remove()
})

const run = async (networks = testedNetworks.join(','), extraArgs: readonly string[] = []) => {
  const sandbox = await runSandbox(folder.path, networks, extraArgs)
  running.push(sandbox)
  return sandbox
}
const balance = async (sandbox: RunningSandbox, network: string, address: string) =>
  (await sandbox.get(`/balance?network=${network}&currency=native&address=${address}`)).body['amount']

type Payment = { network: string; address: string; hash: string; blockHash: string; height: number }

/** Pays a fresh wallet on every network and mines the payment. */
async function payEverywhere(sandbox: RunningSandbox): Promise<Payment[]> {
  const paid: Payment[] = []
  for (const network of testedNetworks) {
    const address = (await sandbox.post('/wallets', { network })).body['address'] as string
    const { body } = await sandbox.post('/deposits', { network, currency: 'native', address, amount: '0.5' })
    const block = (await sandbox.post('/blocks', { network, count: 2 })).body as { height: number; hash: string }
    paid.push({ network, address, hash: body['hash'] as string, blockHash: block.hash, height: block.height })
  }
  return paid
}

async function expectPayments(sandbox: RunningSandbox, paid: readonly Payment[]): Promise<void> {
  for (const { network, address, hash, blockHash, height } of paid) {
    const rpc = sandbox.rpc(network)
    expect(await balance(sandbox, network, address)).toBe('0.5')
    if (network === 'eth') {
      expect(await rpc.call('eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1' })
      expect(await rpc.call('eth_getBlockByNumber', [`0x${height.toString(16)}`, false])).toMatchObject({
        hash: blockHash,
      })
    } else {
      expect(await rpc.call('getrawtransaction', [hash, true])).toMatchObject({ txid: hash })
      expect(await rpc.call('getblockhash', [height])).toBe(blockHash)
    }
  }
}

/** The node processes in the lock file. */
const readNodes = (path: string): PidIdentity[] => {
  const lock = JSON.parse(readFileSync(join(path, 'chains.lock'), 'utf8')) as {
    children: PidIdentity[]
  }
  return lock.children
}

test('continues the same chains at the same URLs after a restart', async () => {
  const first = await run()
  const paid = await payEverywhere(first)
  // Chains with a reorg must also continue.
  for (const network of testedNetworks) {
    await first.post('/blocks', { network, count: 3 })
    await first.post('/reorgs', { network, depth: 2 })
  }
  const firstHeights = await Promise.all(
    testedNetworks.map(
      async (network) => (await first.post('/blocks', { network, count: 1 })).body['height'] as number,
    ),
  )
  expect(await first.stop()).toBe(0)
  expect(existsSync(join(folder.path, 'chains.json'))).toBe(false)
  expect(existsSync(join(folder.path, 'chains.lock'))).toBe(false)

  const second = await run()
  console.log(`first start ${first.startMs} ms, second start ${second.startMs} ms`)
  expect(second.chains.networks).toEqual(first.chains.networks)
  expect(second.chains.controlUrl).toBe(first.chains.controlUrl)
  await expectPayments(second, paid)
  const heights = await Promise.all(
    testedNetworks.map(
      async (network) => (await second.post('/blocks', { network, count: 1 })).body['height'] as number,
    ),
  )
  heights.forEach((height, index) => {
    expect(height).toBeGreaterThan(firstHeights[index] ?? 0)
  })
  // The bank can still pay.
  await payEverywhere(second)
  for (const network of testedNetworks) {
    const deep = await second.post('/reorgs', { network, depth: 2 })
    expect(deep.status).toBe(201)
  }
})

test('stops the nodes after a SIGKILL of the sandbox and loses no data', async () => {
  const first = await run()
  const paid = await payEverywhere(first)
  const nodes = readNodes(folder.path)
  expect(nodes).toHaveLength(testedNetworks.length - 1)
  await first.stop('SIGKILL')
  expect(existsSync(join(folder.path, 'chains.lock'))).toBe(true)
  await until('the end of the nodes', () => !nodes.some(isAlive))
  const second = await run()
  await expectPayments(second, paid)
})

test('continues the chains of Solana and Sui after a SIGKILL from what was written seconds before', async () => {
  const networks = ['sol', 'sui']
  const first = await run(networks.join(','))
  const paid: { network: string; address: string }[] = []
  for (const network of networks) {
    const address = (await first.post('/wallets', { network })).body['address'] as string
    await first.post('/deposits', { network, currency: 'native', address, amount: '0.5' })
    await first.post('/blocks', { network, count: 4 })
    paid.push({ network, address })
  }
  const files = networks.map((network) => join(folder.path, 'chains', network, 'chain.bin'))
  const written = () => files.map((file) => statSync(file).mtimeMs)
  const before = written()
  await until('the states are written', () => written().every((at, index) => at > (before[index] ?? 0)))
  await first.stop('SIGKILL')

  const second = await run(networks.join(','))
  for (const { network, address } of paid) {
    expect(await balance(second, network, address)).toBe('0.5')
    expect((await second.post('/blocks', { network, count: 1 })).body['height']).toBeGreaterThan(4)
  }
})

test('waits for the old nodes in a start right after a SIGKILL', async () => {
  const first = await run()
  const paid = await payEverywhere(first)
  await first.stop('SIGKILL')
  const second = await run()
  await expectPayments(second, paid)
})

test('waits for the first sandbox to stop before a second one starts', async () => {
  const first = await run()
  const paid = await payEverywhere(first)
  const stopped = first.stop()
  // A short interval, because SIGSTOP must arrive before the process exits.
  const hasBegun = () => !existsSync(join(folder.path, 'chains.json'))
  await untilSoon('the stop', hasBegun, { timeoutMs: PATIENCE_MS, intervalMs: 5 })
  // Suspends the stop until SIGCONT.
  first.process.kill('SIGSTOP')
  const second = launch(folder.path, testedNetworks.join(','))
  await until('the second start to wait', () => second.text().includes(`waiting for process ${first.process.pid}`))
  first.process.kill('SIGCONT')
  await stopped
  await until('the chains', () => second.text().includes('ready'))
  second.process.kill('SIGTERM')
  await new Promise((resolve) => second.process.once('exit', resolve))
  await expectPayments(await run(), paid)
})

test('rejects a second sandbox on the same data directory', async () => {
  const first = await run('eth')
  const second = launch(folder.path, 'eth')
  const code = await new Promise((resolve) => second.process.once('exit', resolve))
  expect(code).toBe(2)
  expect(second.text()).toContain(`already run by process ${first.process.pid}`)
  expect((await first.get('/networks')).status).toBe(200)
})

test('rejects unknown networks, arguments and settings', async () => {
  for (const [networks, extraArgs, text] of [
    ['btc,foo', [], 'has no chain for "foo"'],
    ['eth', ['--what', 'x'], 'unknown argument --what'],
    ['eth', ['--parent', 'x'], 'not a process id'],
    ['eth', [], 'SWAPYARD_SANDBOX_NETWORK is not a setting'],
  ] as const) {
    const child = launch(
      folder.path,
      networks,
      extraArgs,
      text.startsWith('SWAPYARD') ? { SWAPYARD_SANDBOX_NETWORK: 'btc' } : {},
    )
    expect(await new Promise((resolve) => child.process.once('exit', resolve))).toBe(2)
    expect(child.text()).toContain(text)
  }
})

test('prints the usage with --help', async () => {
  const child = launch(folder.path, 'eth', ['--help'])
  expect(await new Promise((resolve) => child.process.once('exit', resolve))).toBe(0)
  expect(child.text()).toMatch(/^usage: .*--data-dir.*--networks/)
})

test('runs without litecoind and monerod and names their Debian packages', async () => {
  const sandbox = await runSandbox(folder.path, 'ltc,xmr,eth', [], { PATH: folder.path })
  running.push(sandbox)
  expect(sandbox.chains.networks.map(({ network }) => network)).toEqual(['eth'])
  const lines = sandbox.output().split('\n')
  for (const name of ['litecoind', 'monero'])
    expect(lines.filter((line) => line.includes(`Debian's package ${name} `))).toHaveLength(1)
})

test('stops all nodes on SIGTERM', async () => {
  const sandbox = await run()
  const nodes = readNodes(folder.path)
  expect(nodes.every(isAlive)).toBe(true)
  const startedAt = performance.now()
  expect(await sandbox.stop()).toBe(0)
  expect(performance.now() - startedAt).toBeLessThan(5000)
  expect(nodes.some(isAlive)).toBe(false)
  expect(readPidIdentity(sandbox.process.pid ?? 0)).toBeNull()
})
