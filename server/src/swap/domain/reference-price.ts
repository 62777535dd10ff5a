const BPS = 10_000n
/** An output this far above what reference prices say is more likely bait, or a wrong state, than a gift. */
const DISTRUST_BPS = 200n

export const isAboveReference = (amountOut: bigint, referenceOut: bigint): boolean =>
  amountOut * BPS > referenceOut * (BPS + DISTRUST_BPS)

/** Neither far above the reference nor far below it. */
export const isNearReference = (amountOut: bigint, referenceOut: bigint): boolean =>
  !isAboveReference(amountOut, referenceOut) && amountOut * BPS >= referenceOut * (BPS - DISTRUST_BPS)
