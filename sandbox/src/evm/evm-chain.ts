import { encodeFunctionData, getAddress, type Hex, isAddress, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { formatUnits, parseUnits } from '../amount.ts'
import { type RpcCall, RpcError } from '../json-rpc.ts'
import { evmBankAddress } from '../keys.ts'
import type { LocalChain, Tip } from '../local-chain.ts'
import { createMutex } from '../mutex.ts'
import { type EvmNetwork, sandboxChainIdOffset } from '../networks.ts'
import { Refusal } from '../refusal.ts'
import { sandboxTokens } from '../tokens.ts'
import type { Anvil } from './anvil.ts'
import { putBack, takeOut } from './pool.ts'
import { deployTokens } from './token-deploys.ts'

const abi = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function transfer(address to, uint256 value)',
])
const nativeDecimals = 18
/** Enough for a token's transfer, and for a contract's `receive`. */
const paymentGas = 100_000n
const tipWei = 1_000_000_000n
/** Blocks in one request to the node. */
const minesPerRequest = 100

const hex = (value: bigint | number): Hex => `0x${value.toString(16)}`

/** The controls of one anvil. Its blocks come from `tick` and `mine` alone, one caller at a time. */
export async function createEvmChain(definition: EvmNetwork, anvil: Anvil): Promise<LocalChain> {
  const { network, coin, baseFeeWei } = definition
  const { rpc } = anvil
  const bank = evmBankAddress()
  const exclusively = createMutex()
  const feeWei = 2n * baseFeeWei + tipWei
  const listed = sandboxTokens.filter((token) => token.network === network)
  const tokens = await deployTokens(rpc, listed, { bank, feeWei: 4n * feeWei })
  const block = createBlockCalls(baseFeeWei)
  // Blocks before this one's state are not known to the node any more: it reads only the newest at a start.
  const startHeight = Number(await rpc.call('eth_blockNumber'))

  const readTip = async (): Promise<Tip> => {
    const { number, hash } = (await rpc.call('eth_getBlockByNumber', ['latest', false])) as { number: Hex; hash: Hex }
    return { height: Number(number), hash }
  }

  const findAsset = (currency: string): { contract: Hex | null; decimals: number } => {
    if (currency === 'native' || currency === coin) return { contract: null, decimals: nativeDecimals }
    const token = listed.find((one) => one.ticker === currency)
    const contract = tokens[currency]
    if (!token || !contract) {
      throw new Refusal(
        404,
        'CURRENCY_NOT_FOUND',
        `${network} has no currency "${currency.slice(0, 40)}" in the sandbox`,
      )
    }
    return { contract, decimals: token.decimals }
  }

  const balance = async (contract: Hex | null, owner: Hex): Promise<bigint> => {
    if (contract === null) return BigInt((await rpc.call('eth_getBalance', [owner, 'latest'])) as Hex)
    const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [owner] })
    return BigInt((await rpc.call('eth_call', [{ to: contract, data }, 'latest'])) as Hex)
  }

  const send = async (transaction: { to: Hex; value?: Hex; data?: Hex }, nonce?: Hex): Promise<Hex> => {
    const fees = { gas: hex(paymentGas), maxFeePerGas: hex(feeWei), maxPriorityFeePerGas: hex(tipWei) }
    // Asked in the same turn: two payments never get the same nonce.
    const next = nonce ?? (await rpc.call('eth_getTransactionCount', [bank, 'pending']))
    return (await rpc.call('eth_sendTransaction', [{ from: bank, nonce: next, ...transaction, ...fees }])) as Hex
  }

  const mine = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= minesPerRequest) {
      await rpc.batch(Array.from({ length: Math.min(left, minesPerRequest) }, block).flat())
    }
  }

  const reorganize = async (depth: number): Promise<Tip> => {
    const { height } = await readTip()
    if (height - depth < startHeight) {
      const possible = height - startHeight
      throw new Refusal(
        409,
        'REORG_TOO_DEEP',
        `only the ${possible} blocks since the chain was started can be replaced`,
      )
    }
    const waiting = await takeOut(rpc)
    // A new beneficiary makes every block of the new branch differ from the old one's.
    await rpc.call('anvil_setCoinbase', [privateKeyToAddress(generatePrivateKey())])
    await rpc.call('anvil_reorg', [depth, []])
    // The new blocks are dated from the fork on, and the node keeps that difference.
    await rpc.call('evm_setTime', [Math.floor(Date.now() / 1000)])
    await putBack(rpc, waiting, bank, (nonce) => send({ to: bank, value: '0x0' }, nonce))
    await mine(1)
    return readTip()
  }

  const stop = async () => {
    await exclusively(async () => {
      // What waits in the pool is not in the state file.
      const { pending } = (await rpc.call('txpool_status')) as { pending: Hex }
      if (Number(pending) > 0) await mine(1)
    }).catch(() => undefined)
    await anvil.stop()
  }

  return {
    network,
    family: 'evm',
    client: anvil.client,
    rpcUrls: [anvil.rpcUrl],
    chainId: sandboxChainIdOffset + definition.realChainId,
    tokens,
    createWallet() {
      const privateKey = generatePrivateKey()
      return { network, address: privateKeyToAddress(privateKey), memo: null, privateKey }
    },
    async deposit({ currency, address, amount }) {
      const { contract, decimals } = findAsset(currency)
      const to = parseAddress(network, address)
      const units = parseUnits(amount, decimals)
      if (units === 0n) throw new Refusal(400, 'AMOUNT_TOO_SMALL', 'the amount is zero')
      return exclusively(async () => {
        const held = await balance(contract, bank)
        if (held < units) {
          throw new Refusal(409, 'BANK_IS_SHORT', `the sandbox's bank has ${formatUnits(held, decimals)} only`)
        }
        if (contract === null) return send({ to, value: hex(units) })
        return send({ to: contract, data: encodeFunctionData({ abi, functionName: 'transfer', args: [to, units] }) })
      }).catch(refuse)
    },
    async balance({ currency, address }) {
      const { contract, decimals } = findAsset(currency)
      return formatUnits(await balance(contract, parseAddress(network, address)), decimals)
    },
    mine: (count) =>
      exclusively(async () => {
        await mine(count)
        return readTip()
      }),
    reorganize: (depth) => exclusively(() => reorganize(depth)).catch(refuse),
    tick: () =>
      exclusively(async () => {
        await mine(1)
        return Number(await rpc.call('eth_getBlockTransactionCountByNumber', ['latest']))
      }),
    stop,
  }
}

/** One block: at the usual base fee, which would otherwise fall to nothing on a quiet chain. */
function createBlockCalls(baseFeeWei: bigint): () => RpcCall[] {
  return () => [
    ['anvil_setNextBlockBaseFeePerGas', [hex(baseFeeWei)]],
    ['evm_mine', []],
  ]
}

function parseAddress(network: string, text: string): Hex {
  // Mixed case is EIP-55 and must be right; one case carries no checksum.
  if (!isAddress(text)) {
    throw new Refusal(400, 'INVALID_ADDRESS', `"${text.slice(0, 120)}" is no address of ${network} in the sandbox`)
  }
  return getAddress(text)
}

function refuse(error: unknown): never {
  if (error instanceof RpcError) throw new Refusal(409, 'NODE_REFUSED', `the node refused: ${error.message}`, error)
  throw error
}
