// Package websocket upgrades requests to websockets.
//
// Its names are client-go's, and github.com/gorilla/websocket implements the websockets.
package websocket
