import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '@swapyard/lib/find-program.ts'
import { createBitcoinChain } from './bitcoin/bitcoin-chain.ts'
import { startBcoin, startLitecoind } from './bitcoin/nodes.ts'
import { type Children, createChildren } from './children.ts'
import { startControlServer } from './control-server.ts'
import { lockDirectory } from './directory-lock.ts'
import { startAnvil } from './evm/anvil.ts'
import { createEvmChain } from './evm/evm-chain.ts'
import { writeJson } from './files.ts'
import { type IntervalMiner, startIntervalMiner } from './interval-miner.ts'
import type { LocalChain } from './local-chain.ts'
import { log } from './log.ts'
import { createSnapshotReader, type MarketSnapshot } from './market/snapshot.ts'
import { createMoneroChain } from './monero/monero-chain.ts'
import { evmNetworks, sandboxChainIdOffset } from './networks.ts'
import { createPorts, type Ports } from './ports.ts'
import type { ServerRegistry } from './server-registry.ts'
import type { Settings } from './settings.ts'
import { createSolanaChain } from './solana/solana-chain.ts'
import { createSuiChain } from './sui/sui-chain.ts'

export type Sandbox = Readonly<{ controlUrl: string; chainsFile: string; stop(): Promise<void> }>

type Infrastructure = Readonly<{
  settings: Settings
  ports: Ports
  children: Children
  readSnapshot: (network: string) => MarketSnapshot
  onExit: (network: string) => (reason: string) => void
}>

/** Starts all chains in parallel, then the control server, then writes `chains.json`. */
export async function startSandbox(settings: Settings, servers: ServerRegistry): Promise<Sandbox> {
  const { dataDir } = settings
  const lock = await lockDirectory(dataDir)
  const children = createChildren(lock)
  const chains: LocalChain[] = []
  const miners: IntervalMiner[] = []
  const chainsFile = join(dataDir, 'chains.json')
  let isStopping = false
  const onExit = (network: string) => (reason: string) => {
    if (!isStopping) log(`${network}: the node ${reason}; the network is unavailable until the next start`)
  }
  let closeControlServer = async () => undefined as unknown

  const stop = async () => {
    isStopping = true
    rmSync(chainsFile, { force: true })
    await closeControlServer()
    await Promise.all(miners.map((miner) => miner.stop()))
    await Promise.all(
      chains.map((chain) => chain.stop().catch((error: Error) => log(`${chain.network}: ${error.message}`))),
    )
    await children.close()
    lock.release()
  }

  try {
    const infrastructure = {
      settings,
      ports: createPorts(dataDir),
      children,
      readSnapshot: createSnapshotReader(),
      onExit,
    }
    // A failed start stops the sandbox, but only after the other starts have settled, so that no node keeps running.
    const starts = settings.networks.map(async (network) => {
      const chain = await startChain(network, infrastructure)
      if (chain === null) return
      chains.push(chain)
      log(`${network}: ${chain.client}${chain.chainId ? `, chain ${chain.chainId}` : ''}, ${chain.rpcUrls[0] ?? ''}`)
    })
    const failure = (await Promise.allSettled(starts)).find((one) => one.status === 'rejected')
    if (failure) throw failure.reason
    chains.sort((a, b) => settings.networks.indexOf(a.network) - settings.networks.indexOf(b.network))
    const controlledChains = chains.map((chain, index) => {
      // Spreads the blocks of all chains over the second.
      const miner = startIntervalMiner(chain, (1000 * index) / chains.length)
      miners.push(miner)
      return { chain, miner }
    })
    const port = await infrastructure.ports('control')
    const server = await startControlServer(controlledChains, servers, port)
    closeControlServer = () => server.close()
    const controlUrl = `http://127.0.0.1:${port}`
    writeJson(chainsFile, { controlUrl, pid: process.pid, networks: chains.map(describeChain) })
    return { controlUrl, chainsFile, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startChain(network: string, infrastructure: Infrastructure): Promise<LocalChain | null> {
  const { settings, ports, children, onExit } = infrastructure
  const folder = join(settings.dataDir, 'chains', network)
  if (network === 'btc') return createBitcoinChain('btc', await startBcoin(folder, await ports(network)))
  if (network === 'ltc') {
    const program = findProgram('litecoind', settings.searchPath)
    if (program === null) {
      log("ltc: litecoind is not on the PATH; install Debian's package litecoind to run this network")
      return null
    }
    const port = await ports(network)
    return createBitcoinChain('ltc', await startLitecoind({ program, folder, port, children, onExit: onExit(network) }))
  }
  if (network === 'xmr') {
    const [monerod, wallet] = ['monerod', 'monero-wallet-rpc'].map((name) => findProgram(name, settings.searchPath))
    if (!monerod || !wallet) {
      log("xmr: monerod and monero-wallet-rpc are not on the PATH; install Debian's package monero to run this network")
      return null
    }
    const programs = { monerod, wallet }
    const moneroPorts = { daemon: await ports(network), wallet: await ports('xmr-bank') }
    return createMoneroChain({ programs, folder, ports: moneroPorts, children, onExit: onExit(network) })
  }
  if (network === 'sol') return createSolanaChain(folder, await ports(network), settings)
  if (network === 'sui') return createSuiChain(folder, await ports(network), settings)
  const definition = evmNetworks.find((one) => one.network === network)
  if (!definition) throw new Error(`the sandbox has no chain for network ${network}`)
  const chainId = sandboxChainIdOffset + definition.realChainId
  const port = await ports(network)
  const anvil = await startAnvil({
    network,
    chainId,
    folder,
    port,
    children,
    readSnapshot: () => infrastructure.readSnapshot(network),
    onExit: onExit(network),
  })
  return createEvmChain(definition, anvil, settings)
}

function describeChain({ network, family, chainId, client, rpcUrls, tokens, market }: LocalChain) {
  const description = { network, family, ...(chainId === undefined ? {} : { chainId }), client, rpcUrls, tokens }
  if (market === undefined) return description
  const { wrapped, coinIsToken, hubs, dexes, contracts, defiTokens, lookupTables } = market
  return { ...description, wrapped, coinIsToken, hubs, dexes, contracts, defiTokens, lookupTables }
}
