import { spawn } from 'node:child_process'
import { gunzipSync } from 'node:zlib'
import { freePort } from '@swapyard/lib/free-port.ts'
import { type Hex, numberToHex } from 'viem'
import { findAnvilProgram } from '../../src/evm/anvil.ts'
import { createJsonRpc, type JsonRpc } from '../../src/json-rpc.ts'
import { sandboxMnemonic } from '../../src/keys.ts'
import { findNetwork } from '../../src/market/tokens.ts'
import { sandboxChainIdOffset } from '../../src/networks.ts'
import { waitUntilReady } from '../../src/wait-until-ready.ts'

export type TransactionRequest = Readonly<{ from: Hex; to?: Hex; data: Hex; gas?: bigint }>

export type FreshChain = Readonly<{
  rpc: JsonRpc
  url: string
  /** Sends the transactions in order, mines them and returns the height. Throws at the first that reverted. */
  runTransactions(requests: readonly TransactionRequest[]): Promise<number>
  /** Mines the last, empty blocks and returns anvil's state file, reduced to what a start needs. */
  dumpState(): Promise<string>
  stop(): void
}>

/** Unix time of the first block, one second per block. In the past, so that every start of the sandbox is later. */
const genesisSeconds = 1_767_225_600
const defaultGas = 12_000_000n
/**
 * Empty blocks above the deployment. A watcher begins up to 64 blocks below the head, and anvil cannot trace transactions of a
 * state file: without these blocks a new chain would look like a node without traces.
 */
const emptyBlocks = 64

/** Starts an anvil whose blocks depend only on the transactions. */
export async function startFreshChain(network: string): Promise<FreshChain> {
  const { realChainId, baseFeeWei } = findNetwork(network)
  const port = await freePort()
  const args = [
    ...['--port', String(port), '--chain-id', String(sandboxChainIdOffset + realChainId)],
    ...['--mnemonic', sandboxMnemonic, '--accounts', '10', '--balance', '1000000000'],
    ...['--timestamp', String(genesisSeconds), '--no-mining', '--quiet'],
    ...(network === 'celo' ? ['--celo'] : []),
  ]
  const child = spawn(findAnvilProgram(), args, { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}/`
  const rpc = createJsonRpc(url)
  const stop = () => {
    rpc.close()
    child.kill()
  }
  const exitReason = new Promise<string>((resolve) => {
    child.once('exit', (code) => resolve(`exited with code ${code}`))
  })
  await waitUntilReady(() => rpc.call('eth_chainId'), exitReason)
  let height = 0
  const mineBlock = async () => {
    await rpc.batch([
      ['evm_setNextBlockTimestamp', [genesisSeconds + ++height]],
      ['anvil_setNextBlockBaseFeePerGas', [numberToHex(baseFeeWei)]],
      ['evm_mine', []],
    ])
  }
  const nonces = new Map<Hex, number>()
  const runTransactions = async (requests: readonly TransactionRequest[]) => {
    const calls = requests.map(({ from, to, data, gas = defaultGas }) => {
      const nonce = nonces.get(from) ?? 0
      nonces.set(from, nonce + 1)
      const maxFeePerGas = numberToHex(baseFeeWei + 2n * 10n ** 9n)
      const fees = { gas: numberToHex(gas), maxFeePerGas, maxPriorityFeePerGas: '0x0' }
      const transaction = { from, ...(to ? { to } : {}), data, nonce: numberToHex(nonce), ...fees }
      return ['eth_sendTransaction', [transaction]] as const
    })
    const hashes = (await rpc.batch(calls)) as Hex[]
    const readReceipt = async (hash: Hex | undefined) =>
      (await rpc.call('eth_getTransactionReceipt', [hash])) as { status: Hex; blockNumber: Hex } | null
    while (hashes.length > 0 && (await readReceipt(hashes.at(-1))) === null) await mineBlock()
    for (const [index, hash] of hashes.entries()) {
      if ((await readReceipt(hash))?.status !== '0x1') {
        const reason = await rpc
          .call('eth_call', [{ ...requests[index], gas: undefined }, 'latest'])
          .catch((error: Error) => error.message)
        throw new Error(
          `${network}: transaction ${index} failed (to ${requests[index]?.to}): ${String(reason).slice(0, 300)}`,
        )
      }
    }
    return height
  }
  return {
    rpc,
    url,
    runTransactions,
    async dumpState() {
      for (let count = 0; count < emptyBlocks; count++) await mineBlock()
      return stripState((await rpc.call('anvil_dumpState')) as Hex)
    },
    stop,
  }
}

type Dump = {
  blocks: { header: { number: Hex } }[]
  accounts: Record<string, unknown>
  transactions: { info: { traces: unknown[]; transaction_index: number }; block_number: number }[]
  historical_states: unknown
}

function stripState(dump: Hex): string {
  const state = JSON.parse(gunzipSync(Buffer.from(dump.slice(2), 'hex')).toString()) as Dump
  state.historical_states = null
  // Anvil returns them unordered.
  state.blocks.sort((a, b) => Number(a.header.number) - Number(b.header.number))
  state.transactions.sort(
    (a, b) => a.block_number - b.block_number || a.info.transaction_index - b.info.transaction_index,
  )
  // Traces of the deployment are not needed.
  for (const { info } of state.transactions) info.traces = []
  return JSON.stringify(state)
}
