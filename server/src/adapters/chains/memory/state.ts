import { assert } from '../../../lib/assert.ts'
import { balanceKey, createTimeline } from './accounts.ts'
import { announced, type PoolTransaction, type Receipt } from './block.ts'

/** Gas that transfers take: the protocol's for the coin, a usual ERC-20's for tokens. */
export const TRANSFER_GAS = { coin: 21_000n, token: 65_000n } as const

type Signed = Extract<PoolTransaction, { kind: 'signed' }>
/** The block in which a transaction runs; `touched` collects what it changes. */
type Place = Readonly<{ height: number; baseFee: bigint; touched: Set<string> }>

/** What every account has, by the blocks that have been. */
export function createState() {
  const balances = createTimeline(0n)
  const nonces = createTimeline(0)

  function add({ height, touched }: Place, key: string, units: bigint): void {
    touched.add(key)
    balances.set(key, height, balances.at(key, height) + units)
  }

  function execute(transaction: Signed, place: Place): Receipt {
    const { body, sender } = transaction
    assert(nonces.at(sender, place.height) === body.nonce, 'nonces are used in order')
    const gas = body.contract === null ? TRANSFER_GAS.coin : TRANSFER_GAS.token
    const feeUnits = (gas < body.gasLimit ? gas : body.gasLimit) * priceOf(body, place.baseFee)
    add(place, sender, -feeUnits)
    const key = balanceKey(sender, body.contract)
    const ok = gas <= body.gasLimit && balances.at(key, place.height) >= body.units
    const transfers = ok && body.units > 0n ? announced(transaction) : []
    if (ok) add(place, key, -body.units)
    nonces.set(sender, place.height, body.nonce + 1)
    const delivered = new Map(transfers.map(({ identity, units }) => [identity, units]))
    return { transaction, ok, feeUnits, transfers, delivered }
  }

  return {
    run(transaction: PoolTransaction, place: Place): Receipt {
      const receipt = transaction.kind === 'outside' ? outsideReceipt(transaction) : execute(transaction, place)
      for (const { identity, address, contract } of receipt.transfers) {
        add(place, balanceKey(address, contract), receipt.delivered.get(identity) ?? 0n)
      }
      return receipt
    },
    takeBack(touched: Iterable<string>, height: number): void {
      const keys = [...touched]
      balances.takeBack(keys, height)
      nonces.takeBack(keys, height)
    },
    balance: (address: string, contract: string | null, height: number) =>
      balances.at(balanceKey(address, contract), height),
    nonce: (address: string, height: number) => nonces.at(address, height),
    freeze() {
      const [balance, nonce] = [balances.freeze(), nonces.freeze()]
      return { balance: (address: string, contract: string | null) => balance(balanceKey(address, contract)), nonce }
    },
  }
}

/** What a unit of gas costs (EIP-1559). */
function priceOf({ maxFeePerGas, maxPriorityFeePerGas }: Signed['body'], baseFee: bigint): bigint {
  const offered = baseFee + maxPriorityFeePerGas
  return offered < maxFeePerGas ? offered : maxFeePerGas
}

function outsideReceipt(transaction: Extract<PoolTransaction, { kind: 'outside' }>): Receipt {
  const transfers = transaction.ok ? announced(transaction) : []
  const delivered = new Map(
    transfers.map(({ identity }, place) => [identity, transaction.pays[place]?.delivered ?? 0n]),
  )
  return { transaction, ok: transaction.ok, feeUnits: 0n, transfers, delivered }
}
