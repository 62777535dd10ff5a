declare const brand: unique symbol
/** A `T` that passed the check its name states. Only the module that owns the name may cast. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }
