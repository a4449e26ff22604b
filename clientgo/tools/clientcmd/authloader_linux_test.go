package clientcmd_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
)

// terminal returns the two ends of a pseudo-terminal. Data written to user counts as typed.
func terminal(t *testing.T) (user, program *os.File) {
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this machine has no terminals")
	}
	t.Cleanup(func() { user.Close() })
	var number, locked uint32
	for request, value := range map[uintptr]*uint32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &locked} {
		_, _, failed := syscall.Syscall(syscall.SYS_IOCTL, user.Fd(), request, uintptr(unsafe.Pointer(value)))
		require.Zero(t, failed)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { program.Close() })
	return user, program
}

// A terminal would show the input if the password were read through a program's own reader.
func TestATypedPasswordIsNotEchoed(t *testing.T) {
	user, program := terminal(t)
	stdin := os.Stdin
	os.Stdin = program
	defer func() { os.Stdin = stdin }()
	_, err := user.WriteString("secret\n")
	require.NoError(t, err)
	typed, err := clientcmd.NewPromptingAuthLoader(strings.NewReader("me\nseen\n")).Prompt()
	require.NoError(t, err)
	require.Equal(t, "me", typed.User)
	require.Equal(t, "secret", typed.Password)
}
