import { PANIC } from './constant-product.ts'

/** Errors of Raydium CLMM's swap instructions by the program's names. */
export const CLMM_ERROR = {
  notApproved: 6001,
  invalidTickArray: 6011,
  sqrtPriceLimitOverflow: 6013,
  liquiditySubValue: 6015,
  liquidityAddValue: 6016,
  liquidityInsufficient: 6019,
  tooLittleOutputReceived: 6022,
  tooMuchInputPaid: 6023,
  zeroAmountSpecified: 6024,
  tooSmallInputOrOutputAmount: 6026,
  notEnoughTickArrayAccount: 6027,
  invalidFirstTickArrayAccount: 6028,
  /* The recorded swaps do not show the codes from here on; they follow the order of the program's public error list. */
  missingTickArrayBitmapExtension: 6040,
  insufficientLiquidityForDirection: 6041,
  maxTokenOverflow: 6042,
  calculateOverflow: 6043,
  transferFeeCalculateNotMatch: 6044,
  /** The program stops without a code, e.g. at an unchecked overflow. */
  panic: PANIC,
} as const
