import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { identifyPid, isRunning, type PidIdentity } from '@swapyard/lib/pid.ts'
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

const run = async (networks = testedNetworks.join(','), more: readonly string[] = []) => {
  const sandbox = await runSandbox(folder.path, networks, more)
  running.push(sandbox)
  return sandbox
}
const balance = async (sandbox: RunningSandbox, network: string, address: string) =>
  (await sandbox.get(`/balance?network=${network}&currency=native&address=${address}`)).body['amount']

type Paid = { network: string; address: string; hash: string; blockHash: string; height: number }

/** Pays a fresh wallet on every network and mines it in. */
async function payEverywhere(sandbox: RunningSandbox): Promise<Paid[]> {
  const paid: Paid[] = []
  for (const network of testedNetworks) {
    const address = (await sandbox.post('/wallets', { network })).body['address'] as string
    const { body } = await sandbox.post('/deposits', { network, currency: 'native', address, amount: '0.5' })
    const block = (await sandbox.post('/blocks', { network, count: 2 })).body as { height: number; hash: string }
    paid.push({ network, address, hash: body['hash'] as string, blockHash: block.hash, height: block.height })
  }
  return paid
}

async function expectKept(sandbox: RunningSandbox, paid: readonly Paid[]): Promise<void> {
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

/** Every process whose command line names the test's folder. */
const nodesOf = (path: string): PidIdentity[] => {
  const lock = JSON.parse(readFileSync(join(path, 'chains.lock'), 'utf8')) as {
    children: PidIdentity[]
  }
  return lock.children
}

test('a second start continues the same chains at the same places', async () => {
  const first = await run()
  const paid = await payEverywhere(first)
  // Reorganised chains are continued as they were left.
  for (const network of testedNetworks) {
    await first.post('/blocks', { network, count: 3 })
    await first.post('/reorgs', { network, depth: 2 })
  }
  const left = await Promise.all(
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
  await expectKept(second, paid)
  const heights = await Promise.all(
    testedNetworks.map(
      async (network) => (await second.post('/blocks', { network, count: 1 })).body['height'] as number,
    ),
  )
  heights.forEach((height, at) => {
    expect(height).toBeGreaterThan(left[at] ?? 0)
  })
  // The bank still pays.
  await payEverywhere(second)
  for (const network of testedNetworks) {
    const deep = await second.post('/reorgs', { network, depth: 2 })
    expect(deep.status).toBe(201)
  }
})

test('after a kill -9 its nodes end by themselves, and the next start loses nothing', async () => {
  const first = await run()
  const paid = await payEverywhere(first)
  const nodes = nodesOf(folder.path)
  expect(nodes).toHaveLength(testedNetworks.length - 1)
  await first.stop('SIGKILL')
  expect(existsSync(join(folder.path, 'chains.lock'))).toBe(true)
  await until('the end of the nodes', () => !nodes.some(isRunning))
  const second = await run()
  await expectKept(second, paid)
})

test('a start right after a kill -9 waits for the old nodes', async () => {
  const first = await run()
  const paid = await payEverywhere(first)
  await first.stop('SIGKILL')
  const second = await run()
  await expectKept(second, paid)
})

test('a start while the chains are being stopped waits for their end', async () => {
  const first = await run()
  const paid = await payEverywhere(first)
  const stopped = first.stop()
  await untilSoon('the stop', () => !existsSync(join(folder.path, 'chains.json')), {
    timeoutMs: PATIENCE_MS,
    intervalMs: 5,
  })
  // It may take its time.
  first.process.kill('SIGSTOP')
  const waiting = launch(folder.path, testedNetworks.join(','))
  await until('the second one', () => waiting.text().includes(`waiting for process ${first.process.pid}`))
  first.process.kill('SIGCONT')
  await stopped
  await until('the chains', () => waiting.text().includes('ready'))
  waiting.process.kill('SIGTERM')
  await new Promise((resolve) => waiting.process.once('exit', resolve))
  await expectKept(await run(), paid)
})

test('a second sandbox on the same folder is refused', async () => {
  const first = await run('eth')
  const second = launch(folder.path, 'eth')
  const code = await new Promise((resolve) => second.process.once('exit', resolve))
  expect(code).toBe(2)
  expect(second.text()).toContain(`already run by process ${first.process.pid}`)
  expect((await first.get('/networks')).status).toBe(200)
})

test('unknown networks, arguments and settings are refused', async () => {
  for (const [networks, more, text] of [
    ['btc,foo', [], 'has no chain for "foo"'],
    ['eth', ['--what', 'x'], 'unknown argument --what'],
    ['eth', ['--parent', 'x'], 'not a process id'],
    ['eth', [], 'SWAPYARD_SANDBOX_NETWORK is not a setting'],
  ] as const) {
    const child = launch(
      folder.path,
      networks,
      more,
      text.startsWith('SWAPYARD') ? { SWAPYARD_SANDBOX_NETWORK: 'btc' } : {},
    )
    expect(await new Promise((resolve) => child.process.once('exit', resolve))).toBe(2)
    expect(child.text()).toContain(text)
  }
})

test('--help says what it takes', async () => {
  const child = launch(folder.path, 'eth', ['--help'])
  expect(await new Promise((resolve) => child.process.once('exit', resolve))).toBe(0)
  expect(child.text()).toMatch(/^usage: .*--data-dir.*--networks/)
})

test('without the programs of Debian their chains are missing, and a line names the package of each', async () => {
  const sandbox = await runSandbox(folder.path, 'ltc,xmr,eth', [], { PATH: folder.path })
  running.push(sandbox)
  expect(sandbox.chains.networks.map(({ network }) => network)).toEqual(['eth'])
  const lines = sandbox.output().split('\n')
  for (const name of ['litecoind', 'monero'])
    expect(lines.filter((line) => line.includes(`Debian's package ${name} `))).toHaveLength(1)
})

test('nodes that are stopped in order are gone', async () => {
  const sandbox = await run()
  const nodes = nodesOf(folder.path)
  expect(nodes.every(isRunning)).toBe(true)
  const began = performance.now()
  expect(await sandbox.stop()).toBe(0)
  expect(performance.now() - began).toBeLessThan(5000)
  expect(nodes.some(isRunning)).toBe(false)
  expect(identifyPid(sandbox.process.pid ?? 0)).toBeNull()
})
