import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Child, Children } from '../children.ts'
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
  /** Absent on a chain that is older than the sandbox's markets. */
  market: Market | null
  stop(): Promise<void>
}>

type AnvilOptions = Readonly<{
  network: string
  chainId: number
  folder: string
  port: number
  children: Children
  /** What a new chain begins with. */
  readSnapshot(): MarketSnapshot
  onExit: (reason: string) => void
}>

/** Coins of each of the ten accounts. */
const accountBalance = 1_000_000_000
/**
 * Blocks whose state is kept: a reorg goes back to one of them, 50 at most. Each holds all earlier block hashes: at 56
 * every block takes some 6 KB for ever.
 */
const retainedStates = 56
/** The state is written at every orderly end as well. */
const stateIntervalSeconds = 300

/** One anvil. Blocks are mined by whoever holds the chain's lock: a reorg while it mines breaks its index. */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  mkdirSync(options.folder, { recursive: true })
  const state = join(options.folder, 'state.json')
  const backup = join(options.folder, 'state.last-good.json')
  const marketFile = join(options.folder, 'market.json')
  if (!existsSync(state)) {
    const snapshot = options.readSnapshot()
    // The chain goes on with these addresses, whatever a later version's market is.
    writeJson(marketFile, snapshot.market)
    writeText(state, snapshot.state)
  }
  const market = readJson(marketFile) as Market | null
  if (market === null)
    log(`${options.network}: this chain is older than the markets; without its folder a new one begins`)
  try {
    const anvil = { ...(await launchAnvil(options, state)), market }
    if (existsSync(state)) copyFileSync(state, backup)
    return anvil
  } catch (error) {
    if (!existsSync(state) || !existsSync(backup)) throw error
    log(`${options.network}: the last state can't be read (${(error as Error).message}); going back to the one before`)
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
    // Its coin is a token at the same time.
    ...(network === 'celo' ? ['--celo'] : []),
    '--no-mining',
    '--quiet',
  ]
  const child: Child = children.start(findAnvilProgram(), args, join(folder, 'anvil.log'))
  const rpcUrl = `http://127.0.0.1:${port}/`
  const rpc = createJsonRpc(rpcUrl)
  let exitReason: string | null = null
  void child.exitReason.then((reason) => {
    exitReason = reason
  })
  const probe = async () => {
    // Another process's node at this port would be another chain.
    const id = await rpc.call('eth_chainId')
    if (Number(id) !== chainId) throw new Error(`port ${port} answers for chain ${String(id)}`)
  }
  try {
    await waitUntilReady(probe, () => exitReason)
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

/** The program comes in a package per platform, named in the loader's own table. */
function findAnvilProgram(): string {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const folder = `@foundry-rs/anvil-${process.platform}-${arch}`
  try {
    return require.resolve(`${folder}/bin/anvil`)
  } catch (cause) {
    throw new Error(`the npm package ${folder} is not installed: there are no EVM chains without it`, { cause })
  }
}

function readAnvilVersion(): string {
  return (require('@foundry-rs/anvil/package.json') as { version: string }).version
}
