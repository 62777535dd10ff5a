import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { listedMarket } from '../../sandbox/src/solana/solana-market.ts'
import { startSolanaNode } from '../../sandbox/src/solana/solana-node.ts'
import { ataOf } from '../../sandbox/src/solana/solana-user.fixture.ts'
import { readTokenAccount, tokenProgram } from '../../sandbox/src/solana/token-state.ts'
import { suiTokens } from '../../sandbox/src/sui/coins.ts'
import { cetusPackage, createSuiMarket, dexFunctions } from '../../sandbox/src/sui/market.ts'
import { startSuiNode } from '../../sandbox/src/sui/sui-node.ts'
import { sui as suiDexes } from '../../server/dexes/sui.ts'
import { sol } from '../../server/networks/sol.ts'
import { sui } from '../../server/networks/sui.ts'
import { present } from '../../server/src/lib/assert.ts'
import type { Json } from './program.ts'

/* Simulated nodes that state the genesis of the main networks, with the tokens and pools of the sandbox. */

export type MainNetworkNode = Readonly<{
  network: 'sol' | 'sui'
  /** Two endpoints of one node. */
  rpcUrls: readonly [string, string]
  /** Address or coin type of the sandbox's USDC. */
  usdc: string
  /** What the operator adds to `swaps.networks`, because the tokens and pools are not those of the main network. */
  settings: Json
  /** Pays native coins, in base units. */
  pay(address: string, units: bigint): Promise<void>
  /** Base units of USDC. */
  readUsdc(address: string): Promise<bigint>
  stop(): Promise<void>
}>

const solanaSlotMs = 400

/** Passes connections on to a port. */
async function startEndpoint(port: number) {
  const server = createServer((incoming) => {
    const outgoing = connect(port, '127.0.0.1')
    for (const socket of [incoming, outgoing]) socket.on('error', () => socket.destroy())
    incoming.on('close', () => outgoing.destroy())
    outgoing.on('close', () => incoming.destroy())
    incoming.pipe(outgoing).pipe(incoming)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => void server.close() }
}

async function startEndpoints(nodeUrl: string) {
  const port = Number(new URL(nodeUrl).port)
  const [first, second] = [await startEndpoint(port), await startEndpoint(port)]
  return {
    rpcUrls: [first.url, second.url] as const,
    stop: () => {
      first.stop()
      second.stop()
    },
  }
}

export async function startMainSolana(): Promise<MainNetworkNode> {
  const genesisHash = present(sol.production.genesis, 'the genesis of Solana')
  const node = await startSolanaNode({ port: 0, log: () => undefined, deploysMarket: true, genesisHash })
  const blocks = setInterval(() => node.mine(1), solanaSlotMs)
  const endpoints = await startEndpoints(node.rpcUrl)
  const [usdc] = listedMarket.hubs
  return {
    ...{ network: 'sol', rpcUrls: endpoints.rpcUrls, usdc, settings: { connectors: [usdc] } },
    async pay(to, units) {
      await node.deposit(to as typeof usdc, units)
    },
    async readUsdc(address) {
      const account = await ataOf({ address: usdc, program: tokenProgram }, address)
      return readTokenAccount(node.bank.readAccount(account))?.amount ?? 0n
    },
    async stop() {
      clearInterval(blocks)
      endpoints.stop()
      await node.stop()
    },
  }
}

export async function startMainSui(): Promise<MainNetworkNode> {
  const chainId = present(sui.production.genesis, 'the genesis of Sui')
  const node = await startSuiNode({ notify: () => undefined, functions: dexFunctions, chainId })
  const { pools } = createSuiMarket(node)
  const cetus = present(
    suiDexes.dexes.find(({ name }) => name === 'cetus'),
    'the listing of Cetus',
  )
  // The listing has its address, which no setting replaces.
  const configType = `${cetusPackage}::config::GlobalConfig`
  const protocolFeeRate = Buffer.alloc(8)
  protocolFeeRate.writeBigUInt64LE(2_000n)
  node.createObject(
    { type: configType, owner: { kind: 'shared', initialVersion: 1n }, hasPublicTransfer: false },
    (id) => new Uint8Array([...Buffer.from(id.slice(2), 'hex'), ...protocolFeeRate]),
    cetus.config,
  )
  const endpoints = await startEndpoints(node.url)
  const usdc = present(suiTokens[0], 'a token').type
  const ids = pools.filter(({ dex }) => dex === 'cetus').map(({ id }) => id)
  return {
    ...{ network: 'sui', rpcUrls: endpoints.rpcUrls, usdc },
    settings: { connectors: [usdc], dexes: { cetus: { package: cetusPackage, pools: ids } } },
    async pay(to, units) {
      node.mint(to, units)
    },
    readUsdc: async (address) => node.readBalance(address, usdc),
    async stop() {
      endpoints.stop()
      await node.stop()
    },
  }
}
