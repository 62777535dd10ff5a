import type { Asset, AssetId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { spendsInPlace } from '../../core/domain/network.ts'
import { assert } from '../../lib/assert.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import { AlreadyReleasedError, type Signer, type SignIntent } from '../ports/signer.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import type { Attempt, OutgoingTransaction } from '../ports/store/transactions.ts'
import { caught, pauseScopes, toPay, toStored } from './dispatch-payouts.ts'
import { exchangeJobs } from './payment.ts'

type ReplaceDeps = Readonly<{ store: Store; signer: Signer; assetById(id: AssetId): Asset; log: Log }>

/** Above this many times the fee rate of the moment, a fee is not what a transaction waits for. */
const FEE_RISE_MAX = 4n
/** Coins that a replacement may add. */
const COINS_MAX = 500

/**
 * Signs another attempt, which spends what `intent` spends (the newest attempt's, or a part of it) and pays the same with a
 * higher fee. It spends the conflict key of all attempts before it, so that at most one of them can ever confirm (I-12).
 * Null = done, or somebody else was faster; else why there is none.
 */
export async function replaceTransaction(
  deps: ReplaceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  newest: Attempt,
  intent: SignIntent,
): Promise<string | null> {
  const fee = await chain.reader.feeRate()
  // It offers enough: what holds it up is another transaction before it, or a node. More would only be burnt.
  if (intent.family === 'evm' && intent.maxFeePerGas > fee.rate * FEE_RISE_MAX) return 'ENOUGH'
  try {
    return await deps.store.transaction(async (tx) => {
      const current = await tx.transactions.load(transaction.id)
      if (current?.state !== 'live' || current.attempts.at(-1)?.id !== newest.id) return null
      const payouts = await tx.payouts.listByTransaction(transaction.id)
      // A replacement is a signature, too (I-25): meanwhile the same bytes are offered.
      if ((await tx.pauses.active(payouts.flatMap(pauseScopes))).length > 0)
        throw new AppError('NETWORK_PAUSED', 'nothing is signed in a paused scope')
      // And is worth what any other is: nothing is paid for a deposit that its chain has taken back (I-34).
      if (!(await tx.payouts.haveCreditedDeposits(transaction.id))) return 'DEPOSIT_NOT_COUNTED'
      const coins = chain.network.bitcoin
        ? await tx.transactions.listSpendable(transaction.network, chain.network.confirmations, COINS_MAX)
        : []
      const changeIndex = await changeIndexFor(tx, chain, intent)
      const unsigned = await caught(() =>
        chain.sender.build({
          payments: payouts.map((payout) => toPay(deps, payout)),
          from: transaction.from,
          fee,
          utxos: coins,
          sweepAll: false,
          changeIndex,
          nonce: intent.family === 'evm' ? intent.nonce : null,
          gasLimit: intent.family === 'evm' ? intent.gasLimit : null,
          replaces: { intent, feeUnits: newest.feeUnits },
        }),
      )
      assert(unsigned.conflictKey === transaction.conflictKey, 'a replacement spends what all attempts spend')
      const signed = await caught(() => deps.signer.sign(unsigned.intent, payouts.map(toStored)))
      await tx.transactions.addAttempt(transaction.id, {
        ...signed,
        intent: unsigned.intent,
        feeUnits: unsigned.feeUnits,
        outpoints: spendsInPlace(chain.network) ? unsigned.resources : [],
      })
      await tx.wake([{ kind: 'transaction', id: transaction.id }, ...exchangeJobs(payouts)])
      deps.log.info(
        { network: transaction.network, transactionId: transaction.id, replaces: newest.txHash, txHash: signed.txHash },
        'transaction replaced',
      )
      return null
    })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // Asked to pay twice: by a mistake of ours, or by somebody's hand. It stays for a person to see.
    if (error instanceof AlreadyReleasedError)
      await deps.store.alarms.raise(`release:${error.payoutId}`, 'the signer has released this payout before', {
        network: transaction.network,
        transactionId: transaction.id,
      })
    return error.code
  }
}

/** A replacement keeps the change address; where there was no change, it may have some, at an address of ours that is watched. */
async function changeIndexFor(tx: StoreTx, chain: Chain, intent: SignIntent): Promise<number> {
  if (intent.family !== 'bitcoin') return 0
  if (intent.change !== null) return intent.change.path.index
  return (await tx.transactions.nextChangeAddress(chain.network.id, (index) => chain.addresses.change(index))).index
}
