/** Errors of Meteora DAMM v2's swap instructions by the program's names. */
export const DAMM_ERROR = {
  mathOverflow: 6000,
  exceededSlippage: 6002,
  poolDisabled: 6003,
  amountIsZero: 6006,
  typeCastFailed: 6007,
  priceRangeViolation: 6015,
  failToValidateSingleSwapInstruction: 6049,
} as const
