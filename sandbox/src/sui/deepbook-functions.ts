/*
 * Swaps in a DeepBook v3 pool without a balance manager. Not kept, because no swap reads it: an account of the taker, the history of
 * volumes and fees, and events.
 */
import { swapOnLedger } from '@swapyard/lib/pools/sui/deepbook-accounts.ts'
import { MoveAbort } from '@swapyard/lib/pools/sui/move-abort.ts'
import { DEEPBOOK_VERSION, loadBook, storeSwap } from './deepbook-state.ts'
import {
  FunctionAbort,
  type MoveCall,
  type MoveFunctions,
  mutable,
  packageFunctions,
  reference,
  toFunctionAbort,
  value,
} from './move-function.ts'
import { coinValue, type MoveValue, readBalance, readU64, u64Value } from './move-value.ts'

const units = 1_500n
const versionUnits = 10n
/** Abort code of the module `balance`: the vault holds too little. */
const notEnough = 2n
/** Abort code of the module `pool`: the pool does not allow calls by this version of the package. */
const versionDisabled = 10n

function trade(ledger: Parameters<typeof swapOnLedger>[0], swap: Parameters<typeof swapOnLedger>[1]) {
  try {
    return swapOnLedger(ledger, swap)
  } catch (error) {
    throw error instanceof MoveAbort ? toFunctionAbort(error.abort) : error
  }
}

/** Returns the coins of base, quote and DEEP: the output, and what is left of the inputs. */
function swap(call: MoveCall, isBid: boolean, address: string, deepType: string): readonly MoveValue[] {
  const { typeArguments, context } = call
  const [pool, input, deepIn, outputMin] = call.arguments as readonly [MoveValue, MoveValue, MoveValue, MoveValue]
  const [baseType, quoteType] = typeArguments as readonly [string, string]
  const [amount, deepHeld] = [readBalance(input), readBalance(deepIn)]
  const loaded = loadBook(pool.contents, context)
  if (!loaded.inner.allowedVersions.includes(DEEPBOOK_VERSION)) throw new FunctionAbort(versionDisabled)
  const { paid, received, deepPaid, next } = trade(loaded.ledger, {
    ...{ isBid, amount, deepIn: deepHeld, outputMin: readU64(outputMin) },
  })
  const coin = (type: string, units: bigint) => coinValue(type, context.createId(), units)
  // Below the minimum size nothing is traded, without an abort.
  const isUnchanged = next.bids === loaded.ledger.bids && next.asks === loaded.ledger.asks
  if (isUnchanged) return isBid ? [coin(baseType, 0n), input, deepIn] : [input, coin(quoteType, 0n), deepIn]
  if (next.vault.some((units) => units < 0n)) throw new FunctionAbort(notEnough, 'balance')
  storeSwap(loaded, next, context, { address, types: typeArguments })
  const [base, quote] = isBid ? [received, amount - paid] : [amount - paid, received]
  return [coin(baseType, base), coin(quoteType, quote), coin(deepType, deepHeld - deepPaid)]
}

export function createDeepbookFunctions(address: string, deepType: string): MoveFunctions {
  const define = (coinIn: '$0' | '$1') => ({
    ...{ typeParameters: 2, units },
    parameters: [
      mutable(`${address}::pool::Pool<$0, $1>`),
      value(`0x2::coin::Coin<${coinIn}>`),
      value(`0x2::coin::Coin<${deepType}>`),
      value('u64'),
      reference('0x2::clock::Clock'),
    ],
    run: (call: MoveCall) => swap(call, coinIn === '$1', address, deepType),
  })
  return packageFunctions(address, {
    'constants::current_version': {
      ...{ typeParameters: 0, parameters: [], units: versionUnits },
      run: () => [u64Value(BigInt(DEEPBOOK_VERSION))],
    },
    'pool::swap_exact_base_for_quote': define('$0'),
    'pool::swap_exact_quote_for_base': define('$1'),
  })
}
