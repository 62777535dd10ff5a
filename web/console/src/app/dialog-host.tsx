import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import { Dialog } from './dialog.tsx'

type Content = (close: () => void) => ReactNode
type Open = (title: string, content: Content) => void
const OpenDialog = createContext<Open>(() => undefined)

/** Opens a dialog that outlives the row of its button: an act often removes the row. */
export const useDialog = (): Open => useContext(OpenDialog)

export function DialogHost({ children }: Readonly<{ children: ReactNode }>) {
  const [shown, setShown] = useState<Readonly<{ title: string; content: Content }> | null>(null)
  const [isOpen, setOpen] = useState(false)
  const open = useCallback<Open>((title, content) => {
    setShown({ title, content })
    setOpen(true)
  }, [])
  const close = () => setOpen(false)
  return (
    <OpenDialog value={open}>
      {children}
      <Dialog title={shown?.title ?? ''} isOpen={isOpen} onClose={close}>
        {shown?.content(close)}
      </Dialog>
    </OpenDialog>
  )
}
