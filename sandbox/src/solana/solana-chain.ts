import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import {
  type Address,
  createKeyPairSignerFromPrivateKeyBytes,
  getAddressEncoder,
  getBase58Decoder,
  isAddress,
} from '@solana/kit'
import { findAssociatedTokenPda } from '@solana-program/token'
import { formatUnits, parseUnits } from '../amount.ts'
import { ControlError, currencyNotFound, invalidAddress, requireReorgDepth } from '../control-error.ts'
import type { LocalChain, Tip, Wallet } from '../local-chain.ts'
import { log } from '../log.ts'
import { createSavedState } from '../saved-state.ts'
import type { Bank, SavedBank } from './bank.ts'
import { catalogueTokens, listedMarket, marketPools, testTokens } from './solana-market.ts'
import { startSolanaNode } from './solana-node.ts'
import { planTrade } from './solana-trader.ts'
import { readTokenAccount } from './token-state.ts'

const nativeDecimals = 9
const slotMs = 400
/** A public cluster skips a few slots in a hundred. */
const blocksPerSkip = 25
/** Blocks between two trades, each in one pool. */
const blocksPerTrade = 5

const tokens = [...catalogueTokens, ...testTokens]

const findToken = (currency: string) => {
  const found = tokens.find(({ ticker }) => ticker === currency)
  if (found === undefined) throw currencyNotFound('sol', currency)
  return found
}
const readAddress = (text: string): Address => {
  if (!isAddress(text)) throw invalidAddress('sol', text)
  return text
}
const isNative = (currency: string) => currency === 'native' || currency === 'sol'

async function createWallet(): Promise<Wallet> {
  const seed = randomBytes(32)
  const { address } = await createKeyPairSignerFromPrivateKeyBytes(seed)
  // The form of wallets: the seed and the public key in base58.
  const privateKey = getBase58Decoder().decode(new Uint8Array([...seed, ...getAddressEncoder().encode(address)]))
  return { network: 'sol', address, memo: null, privateKey }
}

async function readBalance(
  bank: Bank,
  { currency, address }: Readonly<{ currency: string; address: string }>,
): Promise<string> {
  const owner = readAddress(address)
  const block = bank.blockAt('confirmed')
  if (isNative(currency)) {
    const account = bank.readAccount(owner, block)
    return formatUnits(account.exists ? account.lamports : 0n, nativeDecimals)
  }
  const { address: mint, program, decimals } = findToken(currency)
  const [ata] = await findAssociatedTokenPda({ mint, owner, tokenProgram: program })
  return formatUnits(readTokenAccount(bank.readAccount(ata, block))?.amount ?? 0n, decimals)
}

/** A LocalChain over the simulated validator, which continues the chain of the last run. */
export async function createSolanaChain(
  folder: string,
  port: number,
  { isFrozen }: Readonly<{ isFrozen: boolean }>,
): Promise<LocalChain> {
  const path = join(folder, 'chain.bin')
  const savedState = createSavedState<SavedBank>({ network: 'sol', path, version: 2 })
  const node = await startSolanaNode({
    ...{ port, log, deploysMarket: true, saved: savedState.read() },
  })
  const { bank } = node
  const kept = savedState.keep(
    () => bank.save(),
    () => `${bank.blockAt('processed').hash} ${bank.countPending()}`,
  )
  let blocks = 0
  let nextPool = 0

  const toTip = (block = bank.blockAt('processed')): Tip => ({ height: block.height, hash: block.hash })

  function mine(count: number): Tip {
    for (let n = 0; n < count; n += 1) {
      blocks += 1
      if (blocks % blocksPerSkip === 0) node.skipSlots(1)
      node.mine(1)
    }
    return toTip()
  }

  return {
    network: 'sol',
    family: 'solana',
    client: 'litesvm 1.5.0',
    rpcUrls: [node.rpcUrl],
    tokens: Object.fromEntries(catalogueTokens.map(({ ticker, address }) => [ticker, address])),
    market: listedMarket,
    blockIntervalMs: slotMs,
    createWallet,
    async deposit({ currency, address, amount }) {
      const owner = readAddress(address)
      const units = parseUnits(amount, isNative(currency) ? nativeDecimals : findToken(currency).decimals)
      if (units === 0n) throw new ControlError(400, 'AMOUNT_TOO_SMALL', 'the amount is zero')
      return isNative(currency)
        ? node.deposit(owner, units)
        : node.depositToken(findToken(currency).address, owner, units)
    },
    readBalance: (query) => readBalance(bank, query),
    mine: async (count) => mine(count),
    /** Replaces unfinalized blocks; without `drop` their transactions wait again. */
    async reorganize(depth, { drop }) {
      requireReorgDepth(depth, bank.heightOf('processed') - bank.heightOf('finalized'))
      const dropped = node.fork(depth)
      if (!drop)
        for (const { executions } of [...dropped].reverse()) for (const { wire } of executions) bank.enqueue(wire)
      return mine(depth + 1)
    },
    async trade() {
      if (isFrozen || blocks % blocksPerTrade !== 0) return
      const pool = marketPools[nextPool % marketPools.length]
      nextPool += 1
      const plan = pool && planTrade(bank, pool, Math.floor(Date.now() / 1000))
      if (pool && plan) await node.trade(pool, plan)
    },
    countPending: async () => node.countPending(),
    async stop() {
      kept.stop()
      await node.stop()
    },
  }
}
