import { assert } from '../../src/lib/assert.ts'
import { smallest } from '../../src/lib/bigint.ts'
import { balanceKey, createHistory } from './accounts.ts'
import { announcedTransfers, type PoolTransaction, type Receipt } from './block.ts'

/** Gas of a transfer: the protocol's cost for native currency, a typical ERC-20's for tokens. */
export const TRANSFER_GAS = { native: 21_000n, token: 65_000n } as const

export const gasOf = ({ contract }: { contract: string | null }): bigint =>
  contract === null ? TRANSFER_GAS.native : TRANSFER_GAS.token

type Signed = Extract<PoolTransaction, { kind: 'signed' }>
/** The block in which a transaction runs; `touched` collects the accounts that it changes. */
type BlockContext = Readonly<{ height: number; baseFee: bigint; touched: Set<string> }>

/** Balances and nonces by block height. */
export function createState() {
  const balances = createHistory(0n)
  const nonces = createHistory(0)

  function add({ height, touched }: BlockContext, key: string, units: bigint): void {
    touched.add(key)
    balances.set(key, height, balances.at(key, height) + units)
  }

  function execute(transaction: Signed, context: BlockContext): Receipt {
    const { body, sender } = transaction
    assert(nonces.at(sender, context.height) === body.nonce, 'nonces are used in order')
    const gas = gasOf(body)
    const feeUnits = smallest(gas, body.gasLimit) * priceOf(body, context.baseFee)
    add(context, sender, -feeUnits)
    const key = balanceKey(sender, body.contract)
    const ok = gas <= body.gasLimit && balances.at(key, context.height) >= body.units
    const transfers = ok && body.units > 0n ? announcedTransfers(transaction) : []
    if (ok) add(context, key, -body.units)
    nonces.set(sender, context.height, body.nonce + 1)
    const deliveredUnits = new Map(transfers.map(({ identity, units }) => [identity, units]))
    return { transaction, ok, feeUnits, transfers, deliveredUnits }
  }

  return {
    run(transaction: PoolTransaction, context: BlockContext): Receipt {
      const receipt = transaction.kind === 'external' ? externalReceipt(transaction) : execute(transaction, context)
      for (const { identity, address, contract } of receipt.transfers) {
        add(context, balanceKey(address, contract), receipt.deliveredUnits.get(identity) ?? 0n)
      }
      return receipt
    },
    rollback(touched: Iterable<string>, height: number): void {
      const keys = [...touched]
      balances.rollback(keys, height)
      nonces.rollback(keys, height)
    },
    balance: (address: string, contract: string | null, height: number) =>
      balances.at(balanceKey(address, contract), height),
    nonce: (address: string, height: number) => nonces.at(address, height),
    snapshot() {
      const [balance, nonce] = [balances.snapshot(), nonces.snapshot()]
      return { balance: (address: string, contract: string | null) => balance(balanceKey(address, contract)), nonce }
    },
  }
}

/** Wei per gas that the sender pays (EIP-1559). */
function priceOf({ maxFeePerGas, maxPriorityFeePerGas }: Signed['body'], baseFee: bigint): bigint {
  const offered = baseFee + maxPriorityFeePerGas
  return offered < maxFeePerGas ? offered : maxFeePerGas
}

function externalReceipt(transaction: Extract<PoolTransaction, { kind: 'external' }>): Receipt {
  const transfers = transaction.ok ? announcedTransfers(transaction) : []
  const deliveredUnits = new Map(
    transfers.map(({ identity }, index) => [identity, transaction.payments[index]?.deliveredUnits ?? 0n]),
  )
  return { transaction, ok: transaction.ok, feeUnits: 0n, transfers, deliveredUnits }
}
