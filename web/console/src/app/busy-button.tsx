import { Button, type ButtonProps } from '@mantine/core'
import type { ComponentPropsWithoutRef, MouseEvent } from 'react'

type Props = Omit<ButtonProps, 'loading'> &
  Omit<ComponentPropsWithoutRef<'button'>, keyof ButtonProps> &
  Readonly<{ isBusy: boolean }>

/** A button whose work takes time. It is not disabled meanwhile, because a disabled element loses the focus. */
export function BusyButton({ isBusy, onClick, ...props }: Props) {
  const click = (event: MouseEvent<HTMLButtonElement>) => {
    if (isBusy) event.preventDefault()
    else onClick?.(event)
  }
  return (
    <Button
      {...props}
      onClick={click}
      loading={isBusy}
      renderRoot={(root) => <button {...root} disabled={props.disabled} aria-busy={isBusy} aria-disabled={isBusy} />}
    />
  )
}
