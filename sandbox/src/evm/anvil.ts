import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Children } from '../children.ts'
import { readJson, writeJson, writeText } from '../files.ts'
import { createJsonRpc, type JsonRpc } from '../json-rpc.ts'
import { evmAccounts, sandboxMnemonic } from '../keys.ts'
import { log } from '../log.ts'
import type { Market, MarketSnapshot } from '../market/snapshot.ts'
import { waitUntilReady } from '../wait-until-ready.ts'

export type Anvil = Readonly<{
  client: string
  rpcUrl: string
  rpc: JsonRpc
  market: Market
  stop(): Promise<void>
}>

type AnvilOptions = Readonly<{
  network: string
  chainId: number
  folder: string
  port: number
  children: Children
  /** Returns the snapshot that a new chain starts from. */
  readSnapshot(): MarketSnapshot
  onExit: (reason: string) => void
}>

/** Native coins of each of the ten accounts. */
const accountBalance = 1_000_000_000
/**
 * Number of recent blocks with a retained state; a reorg of up to 50 blocks needs them. Each state holds all earlier
 * block hashes: with 56, every block adds about 6 KB of memory that is never freed.
 */
const retainedStates = 56
/** Anvil also writes its state on SIGTERM. */
const stateIntervalSeconds = 300

/** Starts one anvil. Mine only under the chain's lock: a reorg during mining corrupts anvil's block index. */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  mkdirSync(options.folder, { recursive: true })
  const state = join(options.folder, 'state.json')
  const backup = join(options.folder, 'state.last-good.json')
  const marketFile = join(options.folder, 'market.json')
  if (!existsSync(state)) {
    const snapshot = options.readSnapshot()
    // The chain keeps these addresses even if a later version of the sandbox has a different market.
    writeJson(marketFile, snapshot.market)
    writeText(state, snapshot.state)
  }
  const market = readJson(marketFile) as Market
  try {
    const anvil = { ...(await launchAnvil(options, state)), market }
    if (existsSync(state)) copyFileSync(state, backup)
    return anvil
  } catch (error) {
    if (!existsSync(state) || !existsSync(backup)) throw error
    log(`${options.network}: cannot read the last state (${(error as Error).message}); restoring the previous state`)
    renameSync(state, join(options.folder, 'state.unreadable.json'))
    copyFileSync(backup, state)
    return { ...(await launchAnvil(options, state)), market }
  }
}

async function launchAnvil(
  { network, chainId, folder, port, children, onExit }: AnvilOptions,
  state: string,
): Promise<Omit<Anvil, 'market'>> {
  const args = [
    ...['--host', '127.0.0.1', '--port', String(port)],
    ...['--chain-id', String(chainId)],
    ...['--mnemonic', sandboxMnemonic, '--accounts', String(evmAccounts), '--balance', String(accountBalance)],
    ...['--state', state, '--state-interval', String(stateIntervalSeconds)],
    ...['--prune-history', String(retainedStates)],
    // Celo's native coin is also an ERC-20 token.
    ...(network === 'celo' ? ['--celo'] : []),
    '--no-mining',
    '--quiet',
  ]
  const child = children.start(findAnvilProgram(), args, join(folder, 'anvil.log'))
  const rpcUrl = `http://127.0.0.1:${port}/`
  const rpc = createJsonRpc(rpcUrl)
  const probe = async () => {
    // Another process may have a node at this port; its chain id differs.
    const id = await rpc.call('eth_chainId')
    if (Number(id) !== chainId) throw new Error(`the node at port ${port} has chain id ${String(id)}, not ${chainId}`)
  }
  try {
    await waitUntilReady(probe, child.exitReason)
  } catch (error) {
    rpc.close()
    await child.stop(1000)
    throw new Error(`${network}: anvil did not start, see ${join(folder, 'anvil.log')}: ${(error as Error).message}`)
  }
  void child.exitReason.then(onExit)
  return {
    client: `anvil ${readAnvilVersion()}`,
    rpcUrl,
    rpc,
    async stop() {
      rpc.close()
      await child.stop(10_000)
    },
  }
}

const require = createRequire(import.meta.url)

/** Foundry publishes the program in one npm package per platform. */
export function findAnvilProgram(): string {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const folder = `@foundry-rs/anvil-${process.platform}-${arch}`
  try {
    return require.resolve(`${folder}/bin/anvil`)
  } catch (cause) {
    throw new Error(`the npm package ${folder} is not installed; the EVM chains need it`, { cause })
  }
}

function readAnvilVersion(): string {
  return (require('@foundry-rs/anvil/package.json') as { version: string }).version
}
