import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { gunzipSync } from 'node:zlib'
import { freePort } from '@swapyard/lib/free-port.ts'
import { createJsonRpc, type JsonRpc } from '../../src/json-rpc.ts'
import { sandboxMnemonic } from '../../src/keys.ts'
import { networkOf } from '../../src/market/tokens.ts'
import { sandboxChainIdOffset } from '../../src/networks.ts'
import { waitUntilReady } from '../../src/wait-until-ready.ts'

type Hex = `0x${string}`
export type Send = Readonly<{ from: Hex; to?: Hex; data: Hex; gas?: bigint }>

export type FreshChain = Readonly<{
  rpc: JsonRpc
  url: string
  /** Sends them in order, mines them all in, and throws at the first that failed. Answers the last block's height. */
  run(sends: readonly Send[]): Promise<number>
  /** What anvil reads at a start, with as little as that needs. */
  state(): Promise<string>
  stop(): void
}>

/** All blocks of the prepared chains are dated from here on, a second each: long ago, so that every start is later. */
const genesisSeconds = 1_767_225_600
const defaultGas = 12_000_000n
const require = createRequire(import.meta.url)

/** An anvil that makes the same blocks from the same transactions every time. */
export async function startFreshChain(network: string): Promise<FreshChain> {
  const { realChainId, baseFeeWei } = networkOf(network)
  const port = await freePort()
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const program = require.resolve(`@foundry-rs/anvil-${process.platform}-${arch}/bin/anvil`)
  const args = [
    ...['--port', String(port), '--chain-id', String(sandboxChainIdOffset + realChainId)],
    ...['--mnemonic', sandboxMnemonic, '--accounts', '10', '--balance', '1000000000'],
    ...['--timestamp', String(genesisSeconds), '--no-mining', '--quiet'],
    ...(network === 'celo' ? ['--celo'] : []),
  ]
  const child = spawn(program, args, { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}/`
  const rpc = createJsonRpc(url)
  const stop = () => {
    rpc.close()
    child.kill()
  }
  const ended = () => (child.exitCode === null ? null : `ended with code ${child.exitCode}`)
  await waitUntilReady(() => rpc.call('eth_chainId'), ended)
  const hex = (value: bigint | number): Hex => `0x${value.toString(16)}`
  let height = 0
  const mine = async () => {
    await rpc.batch([
      ['evm_setNextBlockTimestamp', [genesisSeconds + ++height]],
      ['anvil_setNextBlockBaseFeePerGas', [hex(baseFeeWei)]],
      ['evm_mine', []],
    ])
  }
  const nonces = new Map<Hex, number>()
  const run = async (sends: readonly Send[]) => {
    const calls = sends.map(({ from, to, data, gas = defaultGas }) => {
      const nonce = nonces.get(from) ?? 0
      nonces.set(from, nonce + 1)
      const fees = { gas: hex(gas), maxFeePerGas: hex(baseFeeWei + 2n * 10n ** 9n), maxPriorityFeePerGas: '0x0' }
      return ['eth_sendTransaction', [{ from, ...(to ? { to } : {}), data, nonce: hex(nonce), ...fees }]] as const
    })
    const hashes = (await rpc.batch(calls)) as Hex[]
    const receipt = async (hash: Hex | undefined) =>
      (await rpc.call('eth_getTransactionReceipt', [hash])) as { status: Hex; blockNumber: Hex } | null
    while (hashes.length > 0 && (await receipt(hashes.at(-1))) === null) await mine()
    for (const [at, hash] of hashes.entries()) {
      if ((await receipt(hash))?.status !== '0x1') {
        const why = await rpc
          .call('eth_call', [{ ...sends[at], gas: undefined }, 'latest'])
          .catch((error: Error) => error.message)
        throw new Error(`${network}: transaction ${at} failed (to ${sends[at]?.to}): ${String(why).slice(0, 300)}`)
      }
    }
    return height
  }
  return { rpc, url, run, state: async () => stripped((await rpc.call('anvil_dumpState')) as Hex), stop }
}

type Dump = {
  blocks: { header: { number: Hex } }[]
  accounts: Record<string, unknown>
  transactions: { info: { traces: unknown[]; transaction_index: number }; block_number: number }[]
  historical_states: unknown
}

function stripped(dump: Hex): string {
  const state = JSON.parse(gunzipSync(Buffer.from(dump.slice(2), 'hex')).toString()) as Dump
  state.historical_states = null
  // The node gives them in no order.
  state.blocks.sort((a, b) => Number(a.header.number) - Number(b.header.number))
  state.transactions.sort(
    (a, b) => a.block_number - b.block_number || a.info.transaction_index - b.info.transaction_index,
  )
  // Nobody debugs how the market was made.
  for (const { info } of state.transactions) info.traces = []
  return JSON.stringify(state)
}
