/** The most compute units that a transaction may request, for the simulation. */
export const UNITS_MAX = 1_400_000
/** The limit is what the simulation used, and a part of it more, because the state changes until the block. */
const UNITS_MARGIN = 1.2
const UNITS_EXTRA = 20_000

/** The limit of a transaction whose simulation used these units. */
export const limitOf = (units: number): number => Math.min(UNITS_MAX, Math.ceil(units * UNITS_MARGIN) + UNITS_EXTRA)
