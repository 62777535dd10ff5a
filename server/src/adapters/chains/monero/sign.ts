import type { FamilySigner, KeySource, SignedTransaction, SignIntent } from '../../../exchange/ports/signer.ts'
import type { Payment } from '../../../exchange/ports/spend.ts'
import { assert, present } from '../../../lib/assert.ts'
import { readAddress } from './address.ts'
import { littleEndian, readPoint, timesBase } from './ed25519.ts'
import { derive, type WalletKeys, createWalletKeys, outputSecret, viewTag } from './keys.ts'
import { findOutputs, openAmount } from './scan.ts'
import { fromHex, type Output, parseTransaction, type Transaction, toHex } from './transaction.ts'
import { spendKeyOf, viewKeysOf } from './view-keys.ts'

type MoneroIntent = Extract<SignIntent, { family: 'monero' }>

/** Units of fee that the house never exceeds: a tenth of a coin. */
const FEE_MAX = 100_000_000_000n

/**
 * The wallet has signed already; here it is seen what. By the transaction's own secrets every pay of the intent has one
 * output with exactly its address and units, everything else comes back to the house, and nothing is missing: what else
 * the wallet may have built does not leave.
 */
export const signMonero: FamilySigner = (intent, keys) => {
  assert(intent.family === 'monero', 'the intent is for Monero')
  const transaction = present(parseTransaction(fromHex(intent.raw), null), 'a transaction in the bytes')
  checkSpends(intent, transaction)
  const rest = withoutPays(intent, transaction)
  const returned = returnedUnits(ownKeys(keys), transaction, rest)
  const spent = sum(intent.inputs)
  assert(spent === sum(intent.pays) + returned + transaction.feeUnits, 'inputs are pays, change and fee')
  return { txHash: transaction.txHash, raw: intent.raw } satisfies SignedTransaction
}

function ownKeys(keys: KeySource): WalletKeys {
  const seedKey = keys.privateKey({ branch: 'hot', index: 0 })
  return createWalletKeys(viewKeysOf(spendKeyOf(seedKey)), seedKey)
}

function checkSpends({ inputs, feeUnits }: MoneroIntent, { keyImages, unlockTime, ...transaction }: Transaction): void {
  const spent = new Set(inputs.map(({ outpoint }) => outpoint))
  assert(spent.size === inputs.length && spent.size === keyImages.length, 'no coin is spent twice')
  assert(
    keyImages.every((keyImage) => spent.has(keyImage)),
    'an input is a coin of the intent',
  )
  assert(unlockTime === 0n, 'what is paid can be spent at once')
  assert(transaction.feeUnits === feeUnits && feeUnits <= FEE_MAX, 'what the network takes lies within its bounds')
}

/** The outputs that no pay of the intent accounts for. Each pay has an output of its own. */
function withoutPays({ pays, secrets }: MoneroIntent, { outputs }: Transaction): readonly Output[] {
  return pays.reduce<readonly Output[]>((left, pay) => {
    const paid = left.find((output) => isPaidBy(pay, output, secrets))
    assert(paid, `payout ${pay.payoutId} is paid as the intent says`)
    return left.filter((output) => output !== paid)
  }, outputs)
}

/** Whether the output is the address's and opens to the pay's units, by one of the sender's secrets. */
function isPaidBy(pay: Payment, output: Output, secrets: readonly string[]): boolean {
  const address = present(readAddress(pay.address), 'the address of a pay')
  return secrets.some((text) => {
    const shared = derive(address.view, littleEndian(fromHex(text)))
    if (output.viewTag !== null && output.viewTag !== viewTag(shared, output.vout)) return false
    const secret = outputSecret(shared, output.vout)
    const key = timesBase(secret).add(address.spend)
    return toHex(key.toBytes()) === output.key && openAmount(output, secret) === pay.units
  })
}

function returnedUnits(keys: WalletKeys, transaction: Transaction, rest: readonly Output[]): bigint {
  const own = new Map(findOutputs(keys, transaction, null).map((found) => [found.transfer.identity, found]))
  return rest.reduce((total, output) => {
    const found = own.get(output.key)
    // To the wallet's own address: the spend key without an offset.
    const isOurs = found !== undefined && isHot(keys, output, found.secret)
    // A transaction without change has a second output all the same: of nothing, to nobody. The sum shows that it is.
    assert(isOurs || rest.length === 1, 'everything else comes back to the house')
    return total + (isOurs ? found.transfer.units : 0n)
  }, 0n)
}

function isHot(keys: WalletKeys, output: Output, secret: bigint): boolean {
  return readPoint(fromHex(output.key))?.subtract(timesBase(secret)).equals(keys.spendPoint) ?? false
}

const sum = (parts: readonly { units: bigint }[]): bigint => parts.reduce((total, { units }) => total + units, 0n)
