import { join } from 'node:path'
import { findProgram } from '@swapyard/lib/find-program.ts'
import { createBitcoinChain } from './bitcoin/bitcoin-chain.ts'
import { startBcoin, startLitecoind } from './bitcoin/nodes.ts'
import { type BlockClock, startBlockClock } from './block-clock.ts'
import { type Children, createChildren } from './children.ts'
import { startControlServer } from './control-server.ts'
import { startAnvil } from './evm/anvil.ts'
import { createEvmChain } from './evm/evm-chain.ts'
import { removeFile, writeJson } from './files.ts'
import { lockFolder } from './folder-lock.ts'
import type { LocalChain } from './local-chain.ts'
import { createPreparedReader, type Prepared } from './market/record.ts'
import { createMoneroChain } from './monero/monero-chain.ts'
import { evmNetworks, sandboxChainIdOffset } from './networks.ts'
import { createPorts, type Ports } from './ports.ts'
import { say } from './say.ts'
import type { Servers } from './servers.ts'
import type { Settings } from './settings.ts'

export type Sandbox = Readonly<{ controlUrl: string; chainsFile: string; stop(): Promise<void> }>

type Ground = Readonly<{
  settings: Settings
  ports: Ports
  children: Children
  prepared: (network: string) => Prepared
  onEnd: (network: string) => (why: string) => void
}>

/** Starts every chain at once, then their controls, then writes `chains.json`. */
export async function startSandbox(settings: Settings, servers: Servers): Promise<Sandbox> {
  const { folder } = settings
  const lock = await lockFolder(folder)
  const children = createChildren(lock)
  const chains: LocalChain[] = []
  const clocks: BlockClock[] = []
  const chainsFile = join(folder, 'chains.json')
  let stopping = false
  const onEnd = (network: string) => (why: string) => {
    if (!stopping) say(`${network}: its node ${why}; the network is away until the next start`)
  }
  let closeControls = async () => undefined as unknown

  const stop = async () => {
    stopping = true
    removeFile(chainsFile)
    await closeControls()
    await Promise.all(clocks.map((clock) => clock.stop()))
    await Promise.all(
      chains.map((chain) => chain.stop().catch((error: Error) => say(`${chain.network}: ${error.message}`))),
    )
    await children.close()
    lock.release()
  }

  try {
    const ground = { settings, ports: createPorts(folder), children, prepared: createPreparedReader(), onEnd }
    // One failure stops all, but only once every other start is settled: nothing is left running unseen.
    const starts = settings.networks.map(async (network) => {
      const chain = await startChain(network, ground)
      if (chain === null) return
      chains.push(chain)
      say(`${network}: ${chain.client}${chain.chainId ? `, chain ${chain.chainId}` : ''}, ${chain.rpcUrls[0] ?? ''}`)
    })
    const failed = (await Promise.allSettled(starts)).find((one) => one.status === 'rejected')
    if (failed) throw failed.reason
    chains.sort((a, b) => settings.networks.indexOf(a.network) - settings.networks.indexOf(b.network))
    const controlled = chains.map((chain, at) => {
      // Not all in the same moment.
      const clock = startBlockClock(chain, (1000 * at) / chains.length)
      clocks.push(clock)
      return { chain, clock }
    })
    const port = await ground.ports('control')
    const server = await startControlServer(controlled, servers, port)
    closeControls = () => server.close()
    const controlUrl = `http://127.0.0.1:${port}`
    writeJson(chainsFile, { controlUrl, pid: process.pid, networks: chains.map(describeChain) })
    return { controlUrl, chainsFile, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startChain(network: string, ground: Ground): Promise<LocalChain | null> {
  const { settings, ports, children, onEnd } = ground
  const folder = join(settings.folder, 'chains', network)
  if (network === 'btc') return createBitcoinChain('btc', await startBcoin(folder, await ports(network)))
  if (network === 'ltc') {
    const program = findProgram('litecoind', settings.searchPath)
    if (program === null) {
      say("ltc: no litecoind on the PATH; Debian's package litecoind brings it")
      return null
    }
    const port = await ports(network)
    return createBitcoinChain('ltc', await startLitecoind({ program, folder, port, children, onEnd: onEnd(network) }))
  }
  if (network === 'xmr') {
    const [monerod, wallet] = ['monerod', 'monero-wallet-rpc'].map((name) => findProgram(name, settings.searchPath))
    if (!monerod || !wallet) {
      say("xmr: no monerod and monero-wallet-rpc on the PATH; Debian's package monero brings them")
      return null
    }
    const programs = { monerod, wallet }
    const ofChain = { daemon: await ports(network), wallet: await ports('xmr-bank') }
    return createMoneroChain({ programs, folder, ports: ofChain, children, onEnd: onEnd(network) })
  }
  const definition = evmNetworks.find((one) => one.network === network)
  if (!definition) throw new Error(`there is no chain for ${network}`)
  const chainId = sandboxChainIdOffset + definition.realChainId
  const port = await ports(network)
  const prepare = () => ground.prepared(network)
  const anvil = await startAnvil({ network, chainId, folder, port, children, prepare, onEnd: onEnd(network) })
  return createEvmChain(definition, anvil, settings)
}

function describeChain({ network, family, chainId, client, rpcUrls, tokens, market }: LocalChain) {
  const described = { network, family, ...(chainId === undefined ? {} : { chainId }), client, rpcUrls, tokens }
  if (market === undefined) return described
  const { wrapped, coinIsToken, hubs, dexes, contracts, defiTokens } = market
  return { ...described, wrapped, coinIsToken, hubs, dexes, contracts, defiTokens }
}
