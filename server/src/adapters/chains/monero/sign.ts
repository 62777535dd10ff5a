import { sumUnits } from '../../../core/domain/amount.ts'
import type { FamilySigner, KeySource, SignedTransaction, SignIntent } from '../../../exchange/ports/signer.ts'
import type { Payment } from '../../../exchange/ports/spend.ts'
import { assert, present } from '../../../lib/assert.ts'
import { readAddress } from './address.ts'
import { littleEndian, readPoint, timesBase } from './ed25519.ts'
import { createWalletKeys, derive, outputSecret, viewTag, type WalletKeys } from './keys.ts'
import { findOutputs, openAmount } from './scan.ts'
import { fromHex, type Output, parseTransaction, type Transaction, toHex } from './transaction.ts'
import { spendKeyOf, viewKeysOf } from './view-keys.ts'

type MoneroIntent = Extract<SignIntent, { family: 'monero' }>

/** Maximum fee: 0.1 XMR. */
export const FEE_MAX = 100_000_000_000n

/**
 * Verifies the transaction that the wallet has built and signed. By the transaction's secret keys, each payment of the
 * intent has one output with its address and units, all other units return to us, and the sums match. Any other transaction
 * is refused.
 */
export const signMonero: FamilySigner = (intent, keys) => {
  assert(intent.family === 'monero', 'the intent is for Monero')
  const transaction = present(parseTransaction(fromHex(intent.raw), null), 'a transaction in the bytes')
  checkSpends(intent, transaction)
  const rest = removePayments(intent, transaction)
  const changeUnits = sumChange(readKeys(keys), transaction, rest)
  const inputUnits = sumUnits(intent.inputs)
  assert(
    inputUnits === sumUnits(intent.pays) + changeUnits + transaction.feeUnits,
    'the inputs equal payments, change and fee',
  )
  return { txHash: transaction.txHash, raw: intent.raw } satisfies SignedTransaction
}

function readKeys(keys: KeySource): WalletKeys {
  const seedKey = keys.privateKey({ branch: 'hot', index: 0 })
  return createWalletKeys(viewKeysOf(spendKeyOf(seedKey)), seedKey)
}

function checkSpends({ inputs, feeUnits }: MoneroIntent, { keyImages, unlockTime, ...transaction }: Transaction): void {
  const spent = new Set(inputs.map(({ outpoint }) => outpoint))
  assert(spent.size === inputs.length && spent.size === keyImages.length, 'no output is spent twice')
  assert(
    keyImages.every((keyImage) => spent.has(keyImage)),
    'an input is an output of the intent',
  )
  assert(unlockTime === 0n, 'the outputs are not locked')
  assert(transaction.feeUnits === feeUnits && feeUnits <= FEE_MAX, 'the fee is within its bounds')
}

/** The outputs besides the payments of the intent. Each payment must have its own output. */
function removePayments({ pays, secrets }: MoneroIntent, { outputs }: Transaction): readonly Output[] {
  return pays.reduce<readonly Output[]>((remaining, payment) => {
    const match = remaining.find((output) => isOutputOf(payment, output, secrets))
    assert(match, `an output pays payout ${payment.payoutId} its address and units`)
    return remaining.filter((output) => output !== match)
  }, outputs)
}

/** Whether one of the sender's secrets shows that the output pays the payment's address and units. */
function isOutputOf(payment: Payment, output: Output, secrets: readonly string[]): boolean {
  const address = present(readAddress(payment.address), 'the address of a payment')
  return secrets.some((text) => {
    const shared = derive(address.view, littleEndian(fromHex(text)))
    if (output.viewTag !== null && output.viewTag !== viewTag(shared, output.vout)) return false
    const secret = outputSecret(shared, output.vout)
    const key = timesBase(secret).add(address.spend)
    return toHex(key.toBytes()) === output.key && openAmount(output, secret) === payment.units
  })
}

function sumChange(keys: WalletKeys, transaction: Transaction, rest: readonly Output[]): bigint {
  const ownOutputs = new Map(findOutputs(keys, transaction, null).map((own) => [own.transfer.identity, own]))
  return rest.reduce((total, output) => {
    const own = ownOutputs.get(output.key)
    const isChange = own !== undefined && isHot(keys, output, own.secret)
    // Without change the wallet adds an output of 0 to a random address. The caller's sum proves that it is 0.
    assert(isChange || rest.length === 1, 'all other outputs are change')
    return total + (isChange ? own.transfer.units : 0n)
  }, 0n)
}

/** Whether the output pays the primary address: the spend key without an offset. */
function isHot(keys: WalletKeys, output: Output, secret: bigint): boolean {
  return readPoint(fromHex(output.key))?.subtract(timesBase(secret)).equals(keys.spendPoint) ?? false
}
